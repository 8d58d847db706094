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

// websockets is the client that stays: a websocket (RFC 6455) for Attack.Last,
// over which a message goes to the pod and back in each tenth of a second. Then
// the client closes it in good order; whatever ends it before cuts it.
var websockets = lane{
	name:   "websocket",
	doc:    "a websocket for `last`; every 100 ms a message goes to the pod and back",
	method: http.MethodGet,
	stream: true,
	read:   converse,
	transport: func(d *dialer, a Attack) transport {
		return &upgrader{Transport: http.Transport{DialContext: d.dial, DisableCompression: true}, last: a.Last}
	},
	lasts: true,
}

// upgrader makes a websocket of each request. The answer it returns is that of
// the handshake; its body is the conversation.
type upgrader struct {
	http.Transport
	last time.Duration
}

func (u *upgrader) RoundTrip(r *http.Request) (*http.Response, error) {
	c, response, err := websocket.Dial(r.Context(), r.URL.String(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: &u.Transport},
		HTTPHeader: r.Header,
		Host:       r.Host,
	})
	if err != nil {
		// An answer that is no upgrade is still an answer.
		if response != nil && response.StatusCode != http.StatusSwitchingProtocols {
			return response, nil
		}
		return nil, err
	}
	response.Body = &conversation{ctx: r.Context(), conn: c, last: u.last}
	return response, nil
}

// conversation is an open websocket in the place of an answer's body.
type conversation struct {
	io.Reader // never read
	ctx       context.Context
	conn      *websocket.Conn
	last      time.Duration
}

func (c *conversation) Close() error { return c.conn.CloseNow() }

// converse talks over the websocket for as long as it is to last.
func converse(response *http.Response, _ Attack) (got content) {
	c, ok := response.Body.(*conversation)
	if !ok {
		return readAll(response, Attack{})
	}
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for end := time.Now().Add(c.last); time.Now().Before(end); got.messages++ {
		said := fmt.Appendf(nil, "message %d", got.messages+1)
		heard, err := c.exchange(said)
		if err != nil {
			got.err = err
			return got
		}
		if !bytes.Equal(said, heard) {
			got.flaw = fmt.Sprintf("sent %q, back came %q", said, heard)
			return got
		}
		select {
		case <-ticker.C:
		case <-c.ctx.Done():
			got.err = context.Cause(c.ctx)
			return got
		}
	}
	c.conn.Close(websocket.StatusNormalClosure, "")
	return got
}

func (c *conversation) exchange(message []byte) ([]byte, error) {
	if err := c.conn.Write(c.ctx, websocket.MessageText, message); err != nil {
		return nil, ended(err)
	}
	_, heard, err := c.conn.Read(c.ctx)
	return heard, ended(err)
}

// ended makes one error of the ways in which the other side can end a
// websocket: with a close frame, or without.
func ended(err error) error {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		return fmt.Errorf("closed with status %d: %w", closed.Code, io.ErrUnexpectedEOF)
	}
	return err
}
