package load

import (
	"io"
	"net/http"
)

// Echo answers each request with its body, and does nothing else. No API server that uses net/http can
// be faster.
func Echo(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, max(r.ContentLength, 0))
	if _, err := io.ReadFull(r.Body, body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	w.Write(body) // an error means that the client has gone
}
