package traffic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// websocketLane opens a websocket (RFC 6455) for Attack.Last. Every streamInterval a message
// goes to the pod and back. Then the client closes the websocket cleanly; an earlier end cuts it.
var websocketLane = lane{
	name:   "websocket",
	doc:    "a websocket for `last`; every 100 ms a message goes to the pod and back",
	lasts:  true,
	stream: true,
	http: &httpClient{
		method: http.MethodGet,
		read:   exchangeMessages,
		transport: func(d *dialer, a Attack) transport {
			return traced{&websocketTransport{Transport: http.Transport{DialContext: d.dialURL, TLSClientConfig: anyCertificate(), DisableCompression: true}, last: a.Last}}
		},
	},
}

// websocketTransport opens a websocket for each request. It returns the answer to the
// handshake, with the open websocket as its body.
type websocketTransport struct {
	http.Transport
	last time.Duration
}

func (t *websocketTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c, response, err := websocket.Dial(r.Context(), r.URL.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &t.Transport, CheckRedirect: keepRedirect},
		HTTPHeader: r.Header,
		Host:       r.Host,
	})
	if err != nil {
		// An answer that is not an upgrade is still an answer.
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			return response, nil
		}
		return nil, websocketError(err)
	}
	response.Body = &websocketBody{ctx: r.Context(), conn: c, last: t.last}
	return response, nil
}

// keepRedirect makes a client return redirects, like other lanes, instead of following them.
func keepRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// websocketBody is an open websocket in place of an answer's body.
type websocketBody struct {
	io.Reader // never read
	ctx       context.Context
	conn      *websocket.Conn
	last      time.Duration
}

func (b *websocketBody) Close() error { return b.conn.CloseNow() }

// exchangeMessages uses the websocket until its time is over.
func exchangeMessages(response *http.Response, _ Attack) (got content) {
	b, ok := response.Body.(*websocketBody)
	if !ok {
		got = readAll(response, Attack{})
		got.flaw = fmt.Sprintf("status %d answers the handshake of a websocket: it did not open", response.StatusCode)
		return got
	}
	ticker := time.NewTicker(streamInterval)
	defer ticker.Stop()
	for end := time.Now().Add(b.last); time.Now().Before(end); got.messages++ {
		sent := fmt.Appendf(nil, "message %d", got.messages+1)
		answer, err := b.exchange(sent)
		if err != nil {
			got.err = err
			return got
		}
		if !bytes.Equal(sent, answer) {
			got.flaw = fmt.Sprintf("sent %q, back came %q", sent, answer)
			return got
		}
		select {
		case <-ticker.C:
		case <-b.ctx.Done():
			got.err = context.Cause(b.ctx)
			return got
		}
	}
	b.conn.Close(websocket.StatusNormalClosure, "")
	return got
}

func (b *websocketBody) exchange(message []byte) ([]byte, error) {
	if err := b.conn.Write(b.ctx, websocket.MessageText, message); err != nil {
		return nil, websocketError(err)
	}
	_, answer, err := b.conn.Read(b.ctx)
	return answer, websocketError(err)
}

// websocketError makes the errors of the library known to classify: the peer ends a websocket
// with a close frame or without one, or sends bytes that are not a websocket's.
func websocketError(err error) error {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return fmt.Errorf("closed with status %d: %w", closed.Code, io.ErrUnexpectedEOF)
	}
	if err != nil && containsAny(err.Error(), garbledWebsocket) {
		return garbledError{err}
	}
	return err
}

// garbledWebsocket are texts of the library's parser errors, which have no types.
var garbledWebsocket = []string{
	"protocol violation", "received header with", "received unknown opcode", "received control frame", "received fragmented",
	"received continuation frame", "received new data message", "received negative payload", "message too big",
}
