package backend

import (
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

var websocketProtocol = protocol{
	speaks: func(r *http.Request) bool { return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") },
	serve:  (*pod).echoMessages,
}

// echoMessages sends back every message of a websocket (RFC 6455) until the client closes it, or
// the pod is gone. The answer to the handshake has the pod's identity.
func (p *pod) echoMessages(w http.ResponseWriter, r *http.Request) {
	if !p.connections.begin() {
		panic(http.ErrAbortHandler)
	}
	defer p.connections.active.Done()
	p.identity("").setHeaders(w.Header())
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // a test's pod accepts any origin
	if err != nil {
		return // Accept has answered
	}
	defer c.CloseNow()
	for {
		kind, message, err := c.Read(p.connections.ended)
		if err != nil {
			return
		}
		if c.Write(p.connections.ended, kind, message) != nil {
			return
		}
	}
}
