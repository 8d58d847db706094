package backend

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// The headers in which an answer says who gave it.
const (
	PodHeader     = "X-Windtunnel-Pod"     // namespace/name
	ServiceHeader = "X-Windtunnel-Service" // namespace/name
	StateHeader   = "X-Windtunnel-State"
	BodyHeader    = "X-Windtunnel-Body" // SHA-256 of the request's body, in hex
)

// Identity is what an answer says of who gave it, and to what. It stands in
// the headers and, as JSON, in the body: an answer in which the two differ was
// put together from more than one.
type Identity struct {
	Pod     string `json:"pod"`
	Service string `json:"service"`
	State   State  `json:"state"`
	Body    string `json:"body"`
}

// IdentityOf reads the headers of an answer. It is the zero Identity when no
// pod gave the answer.
func IdentityOf(h http.Header) Identity {
	return Identity{
		Pod:     h.Get(PodHeader),
		Service: h.Get(ServiceHeader),
		State:   State(h.Get(StateHeader)),
		Body:    h.Get(BodyHeader),
	}
}

// ParseIdentity reads the body of an answer.
func ParseIdentity(body []byte) (Identity, error) {
	var i Identity
	if err := json.Unmarshal(body, &i); err != nil {
		return Identity{}, fmt.Errorf("the answer's body is not a pod's: %w", err)
	}
	return i, nil
}

func (i Identity) setHeaders(h http.Header) {
	h.Set(PodHeader, i.Pod)
	h.Set(ServiceHeader, i.Service)
	h.Set(StateHeader, string(i.State))
	h.Set(BodyHeader, i.Body)
}
