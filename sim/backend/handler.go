package backend

import (
	"crypto/sha256"
	"io"
	"net/http"
	"strconv"
)

// protocol is something other than plain HTTP that a pod speaks at its HTTP port.
type protocol struct {
	speaks func(*http.Request) bool
	serve  func(*pod, http.ResponseWriter, *http.Request)
}

// protocols is the table.
var protocols = []protocol{
	grpcProtocol,
	websocketProtocol,
}

// ServeHTTP answers every request. A pod that follows a script or records has a role.
func (p *pod) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.role != nil {
		p.perform(w, r)
		return
	}
	p.answerPlainly(w, r)
}

// answerPlainly answers with the pod's identity and the checksum of the body that reached it: at
// once, unless the request asks for another behaviour.
func (p *pod) answerPlainly(w http.ResponseWriter, r *http.Request) {
	for _, other := range protocols {
		if other.speaks(r) {
			other.serve(p, w, r)
			return
		}
	}
	identity := p.identity("") // as of now, when the request came: the answer may be much later
	sum := sha256.New()
	if _, err := io.Copy(sum, r.Body); err != nil {
		// The request ended early: there is nobody to answer.
		panic(http.ErrAbortHandler)
	}
	identity.Body = hexOf(sum)
	a, err := readRequested(r.Header)
	if err != nil {
		p.refuse(w, err)
		return
	}
	for _, b := range behaviours {
		if a[b.header] > 0 {
			b.answer(p, w, r, identity, a)
			return
		}
	}
	p.answer(w, identity)
}

// answer writes an immediate answer.
func (p *pod) answer(w http.ResponseWriter, identity Identity) {
	body := encoded(identity)
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body) // it fails only if the client has gone
}

// refuse answers 400 and says what is wrong with the request.
func (p *pod) refuse(w http.ResponseWriter, err error) {
	p.identity("").setHeaders(w.Header())
	http.Error(w, err.Error(), http.StatusBadRequest)
}
