package backend

import (
	"crypto/sha256"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/grpc"
)

// echo answers every request with who the pod is and the checksum of the body
// that reached it, at once unless the request asks for something else.
func echo(p *pod) http.Handler {
	calls := sync.OnceValue(func() *grpc.Server { return newGRPC(p) }) // of ten thousand pods few are called
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isGRPC(r) {
			calls().ServeHTTP(w, r)
			return
		}
		if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			p.echoMessages(w, r)
			return
		}
		identity := p.identity("") // as of the request's coming, which may be long before the answer
		sum := sha256.New()
		if _, err := io.Copy(sum, r.Body); err != nil {
			// The request ended early: there is nobody to answer.
			panic(http.ErrAbortHandler)
		}
		identity.Body = hexOf(sum)
		a, err := readAsked(r.Header)
		switch {
		case err != nil:
			p.refuse(w, err)
		case a.events > 0:
			p.writeEvents(w, r, identity, a)
		case a.payload > 0:
			p.writePayload(w, r, identity, a)
		case a.take > 0:
			p.writeSlowly(w, r, identity, a.take)
		default:
			p.answer(w, identity)
		}
	})
}

// answer writes a whole answer.
func (p *pod) answer(w http.ResponseWriter, identity Identity) {
	body := encoded(identity)
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body) // an error is the reader's: it went away, and knows it
}

// refuse says what a request got wrong.
func (p *pod) refuse(w http.ResponseWriter, err error) {
	p.identity("").setHeaders(w.Header())
	http.Error(w, err.Error(), http.StatusBadRequest)
}
