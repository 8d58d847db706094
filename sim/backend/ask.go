package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers by which a request asks for more than an answer at once. What a
// pod cannot read it answers with 400.
const (
	// TakeHeader is a duration, such as 2s: the head comes at once, the body is
	// whole when it is over.
	TakeHeader = "X-Windtunnel-Take"
	// PayloadHeader is how many bytes follow the identity in the body, which is
	// then chunked; SumHeader of the answer is their checksum. The time of
	// TakeHeader is spread over them.
	PayloadHeader = "X-Windtunnel-Payload"
	// SumHeader is the SHA-256 of an answer's payload, in hex.
	SumHeader = "X-Windtunnel-Sum"
	// EventsHeader is how many server-sent events to send, spread over the time
	// of TakeHeader; each has its number, from 1, and the identity.
	EventsHeader = "X-Windtunnel-Events"
)

// pieces is how many parts a body that takes its time comes in.
const pieces = 20

// most is how much a request may ask for.
const (
	mostTime    = 10 * time.Minute
	mostPayload = 1 << 30
	mostEvents  = 100_000
)

// asked is what a request asks for.
type asked struct {
	take    time.Duration
	payload int64
	events  int
}

func readAsked(h http.Header) (a asked, err error) {
	if text := h.Get(TakeHeader); text != "" {
		if a.take, err = time.ParseDuration(text); err != nil || a.take < 0 || a.take > mostTime {
			return asked{}, fmt.Errorf("%s: %q: want a duration up to %v", TakeHeader, text, mostTime)
		}
	}
	if text := h.Get(PayloadHeader); text != "" {
		if a.payload, err = strconv.ParseInt(text, 10, 64); err != nil || a.payload < 0 || a.payload > mostPayload {
			return asked{}, fmt.Errorf("%s: %q: want a number of bytes up to %d", PayloadHeader, text, mostPayload)
		}
	}
	if text := h.Get(EventsHeader); text != "" {
		if a.events, err = strconv.Atoi(text); err != nil || a.events < 0 || a.events > mostEvents {
			return asked{}, fmt.Errorf("%s: %q: want a number up to %d", EventsHeader, text, mostEvents)
		}
	}
	return a, nil
}

// writeSlowly answers with the identity, in pieces over the time: white space
// goes before it, which JSON allows, so that the answer is whole only at the end.
func (p *pod) writeSlowly(w http.ResponseWriter, r *http.Request, identity Identity, take time.Duration) {
	body := encoded(identity)
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+pieces))
	for range pieces {
		if !p.push(w, r, " ", take/pieces) {
			return
		}
	}
	w.Write(body)
}

// writePayload answers with the identity, a line break and that many bytes, in
// chunks. They are the same for the same number, so that their checksum can
// stand in the head.
func (p *pod) writePayload(w http.ResponseWriter, r *http.Request, identity Identity, a asked) {
	whole := sha256.New()
	if _, err := io.Copy(whole, payload(a.payload)); err != nil {
		panic(err) // neither end can fail
	}
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(SumHeader, hexOf(whole))
	if !p.push(w, r, string(encoded(identity))+"\n", 0) {
		return
	}
	content, piece := payload(a.payload), max(a.payload/pieces, 1)
	for {
		part, err := io.ReadAll(io.LimitReader(content, piece))
		if err != nil || len(part) == 0 {
			return
		}
		if !p.push(w, r, string(part), a.take/pieces) {
			return
		}
	}
}

// writeEvents is a stream of server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
func (p *pod) writeEvents(w http.ResponseWriter, r *http.Request, identity Identity, a asked) {
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for i := range a.events {
		event := fmt.Sprintf("id: %d\ndata: %s\n\n", i+1, encoded(identity))
		if !p.push(w, r, event, a.take/time.Duration(a.events)) {
			return
		}
	}
}

// push sends text and waits; false: the client has gone.
func (p *pod) push(w http.ResponseWriter, r *http.Request, text string, wait time.Duration) bool {
	if _, err := io.WriteString(w, text); err != nil {
		return false
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return false
	}
	return pause(r.Context(), wait)
}

// payload is n bytes that look like chance and are always the same.
func payload(n int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8([32]byte([]byte(strings.Repeat("windtunnel", 4)[:32]))), n)
}

func (p *pod) identity(sum string) Identity {
	return Identity{Pod: p.name, Service: p.service, State: p.State(), Body: sum}
}

func encoded(identity Identity) []byte {
	text, err := json.Marshal(identity)
	if err != nil {
		panic(err) // four strings always marshal
	}
	return text
}

func hexOf(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }
