package ask

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"

	"github.com/coder/websocket"

	"windtunnel.dev/sim/behave"
)

// chat opens a WebSocket (RFC 6455), sends the body as a text message, and records the first
// message that comes back as the body. If the server does not switch protocols, its answer is
// recorded as any other.
func (c *call) chat(ctx context.Context, on *connection, e *behave.Exchange) error {
	message, err := io.ReadAll(c.body())
	if err != nil {
		return unjudgeable{err}
	}
	defer whenDone(ctx, on)()
	watch := startWatch()
	socket, err := c.upgrade(ctx, on, e)
	if socket != nil {
		defer socket.CloseNow()
		e.Body, err = converse(ctx, socket, message)
	}
	watch.stop(e)
	if socket != nil && err == nil {
		socket.Close(websocket.StatusNormalClosure, "") // the exchange is complete, whatever this returns
	}
	return err
}

func converse(ctx context.Context, socket *websocket.Conn, message []byte) ([]byte, error) {
	socket.SetReadLimit(maxBody)
	if err := socket.Write(ctx, websocket.MessageText, message); err != nil {
		return nil, err
	}
	_, answer, err := socket.Read(ctx)
	if errors.Is(err, websocket.ErrMessageTooBig) {
		err = unjudgeable{err}
	}
	return answer, err
}

// upgrade returns the WebSocket, or nil if the server answers something else.
func (c *call) upgrade(ctx context.Context, on *connection, e *behave.Exchange) (*websocket.Conn, error) {
	handshake := &handshake{call: c, on: on, e: e}
	//nolint:bodyclose // the library closes it
	socket, _, err := websocket.Dial(ctx, "ws://any", &websocket.DialOptions{HTTPClient: &http.Client{
		Transport:     handshake,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}})
	switch {
	case handshake.err != nil:
		return nil, handshake.err
	case e.Status != http.StatusSwitchingProtocols:
		return nil, nil
	case err != nil:
		return nil, malformed(err)
	}
	return socket, nil
}

// handshake sends the request of a WebSocket in the place of an http.Transport.
type handshake struct {
	call *call
	on   *connection
	e    *behave.Exchange
	err  error
}

// RoundTrip sends the fields of the call. From r it takes only the key.
func (h *handshake) RoundTrip(r *http.Request) (*http.Response, error) {
	fields := slices.Clone(h.call.withCookies())
	for i, f := range fields {
		if f.is("Sec-WebSocket-Key") && f.value == "" {
			fields[i].value = r.Header.Get("Sec-WebSocket-Key")
		}
	}
	sent := h.call.write(h.on, fields)
	_, h.err = readAnswer(h.on.reader, h.call.method, h.e, sent.proceed)
	sent.abandon()
	<-sent.done
	if h.err != nil {
		return nil, h.err
	}
	answer := &http.Response{StatusCode: h.e.Status, Header: h.e.Header, Body: http.NoBody, Request: r}
	if h.e.Status == http.StatusSwitchingProtocols {
		answer.Body = upgraded{h.on.Conn, h.on.reader}
	}
	return answer, nil
}

// upgraded is a connection after the handshake.
type upgraded struct {
	net.Conn
	reader io.Reader // begins with the bytes that the server sent together with the handshake
}

func (u upgraded) Read(b []byte) (int, error) { return u.reader.Read(b) }
