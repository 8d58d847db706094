package backend

import (
	"context"
	"net/http"
	"sync"

	"github.com/coder/websocket"
)

// streams are the connections of a pod that have left HTTP, which net/http no
// longer counts among its own: they end with the pod.
type streams struct {
	ended  context.Context
	end    context.CancelFunc
	active sync.WaitGroup

	mu   sync.Mutex
	over bool
}

func newStreams() *streams {
	ended, end := context.WithCancel(context.Background())
	return &streams{ended: ended, end: end}
}

// begin counts one more; false when the pod is gone.
func (s *streams) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.active.Add(1)
	}
	return !s.over
}

// onEnd has f called when the streams are cut, unless stop comes first.
func (s *streams) onEnd(f func()) (stop func() bool) { return context.AfterFunc(s.ended, f) }

// cut ends all of them and returns when they are closed.
func (s *streams) cut() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.end()
	s.active.Wait()
}

// echoMessages sends back every message of a websocket (RFC 6455) until the
// client closes it, or the pod is gone. The answer to the handshake says who
// the pod is.
func (p *pod) echoMessages(w http.ResponseWriter, r *http.Request) {
	if !p.streams.begin() {
		panic(http.ErrAbortHandler)
	}
	defer p.streams.active.Done()
	p.identity("").setHeaders(w.Header())
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // any origin may talk to a test's pod
	if err != nil {
		return // it has answered
	}
	defer c.CloseNow()
	for {
		kind, message, err := c.Read(p.streams.ended)
		if err != nil {
			return
		}
		if c.Write(p.streams.ended, kind, message) != nil {
			return
		}
	}
}
