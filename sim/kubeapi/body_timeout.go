package kubeapi

import (
	"io"
	"net/http"
	"time"
)

// bodyWithin is the time limit for the body of a request: kube-apiserver's --request-timeout.
// Answers and watches may take longer.
const bodyWithin = time.Minute

// withBodyTimeout aborts requests with a slow body, whether or not a handler reads the body.
func (s *Server) withBodyTimeout(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Body != nil && req.Body != http.NoBody {
			control := http.NewResponseController(w)
			if control.SetReadDeadline(time.Now().Add(s.bodyWithin)) == nil { // an error means that the request has no connection
				req.Body = &timedBody{req.Body, control}
			}
		}
		next.ServeHTTP(w, req)
	})
}

// timedBody removes the deadline at the end of the body, because net/http continues to read to
// notice that the client leaves.
type timedBody struct {
	io.ReadCloser
	control *http.ResponseController
}

func (b *timedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if err == io.EOF {
		b.control.SetReadDeadline(time.Time{}) // an error means that the connection has gone
	}
	return n, err
}
