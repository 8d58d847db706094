package backend

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"net/http"
)

// The headers that say which pod gave an answer.
const (
	PodHeader     = "X-Windtunnel-Pod"     // namespace/name
	ServiceHeader = "X-Windtunnel-Service" // namespace/name
	StateHeader   = "X-Windtunnel-State"
	BodyHeader    = "X-Windtunnel-Body" // SHA-256 of the request's body, in hexadecimal
)

// Identity says which pod gave an answer, and to which request. An answer contains it in its
// headers and, as JSON, in its body: if the two differ, the answer was assembled from several
// answers.
type Identity struct {
	Pod     string `json:"pod"`
	Service string `json:"service"`
	State   State  `json:"state"`
	Body    string `json:"body"`
}

// IdentityOf reads the headers of an answer. It returns the zero Identity if no pod gave the
// answer.
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

// IsText reports whether a body is the identity as a pod writes it. Another body may have the same
// meaning; ParseIdentity reads it. IsText is much faster.
func (i Identity) IsText(body []byte) bool {
	rest := body
	for _, part := range []string{`{"pod":"`, i.Pod, `","service":"`, i.Service, `","state":"`, string(i.State), `","body":"`, i.Body, `"}`} {
		if len(rest) < len(part) || string(rest[:len(part)]) != part {
			return false
		}
		rest = rest[len(part):]
	}
	return len(rest) == 0
}

func (i Identity) setHeaders(h http.Header) {
	h.Set(PodHeader, i.Pod)
	h.Set(ServiceHeader, i.Service)
	h.Set(StateHeader, string(i.State))
	h.Set(BodyHeader, i.Body)
}

// identity returns the pod's identity now; sum is the checksum of what the request sent.
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
