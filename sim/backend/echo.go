package backend

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
)

// echo answers every request at once with who the pod is and the checksum of
// the body that reached it.
func echo(p *Pod) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		if _, err := io.Copy(sum, r.Body); err != nil {
			// The request ended early: there is nobody to answer.
			panic(http.ErrAbortHandler)
		}
		p.answer(w, hex.EncodeToString(sum.Sum(nil)))
	})
}

// answer writes a whole answer to a request whose body had this checksum.
func (p *Pod) answer(w http.ResponseWriter, sum string) {
	identity := Identity{Pod: p.name, Service: p.service, State: p.State(), Body: sum}
	body, err := json.Marshal(identity)
	if err != nil {
		panic(err) // four strings always marshal
	}
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body) // an error is the reader's: it went away, and knows it
}
