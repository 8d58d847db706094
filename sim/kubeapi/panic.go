package kubeapi

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"windtunnel.dev/sim/kubeapi/internal/rescue"
)

// withRecovery answers a panic with a 500 and logs it. A response that has begun is aborted, so the
// client does not treat it as complete.
func (s *Server) withRecovery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer func() {
			reason := recover()
			if reason == nil {
				return
			}
			if reason == http.ErrAbortHandler { //nolint:errorlint // net/http compares so, too
				panic(reason)
			}
			s.reportPanic(req, reason, debug.Stack())
			if w.Header().Get("Content-Type") != "" { // every answer sets it at its beginning
				panic(http.ErrAbortHandler)
			}
			refuse(w, req, apierrors.NewInternalError(errors.New("the request made the server panic; the server's log has the stack")))
		}()
		next.ServeHTTP(w, req)
	})
}

// reportError logs err if it wraps a panic.
func (s *Server) reportError(req *http.Request, err error) {
	var p *rescue.Panic
	if errors.As(err, &p) {
		s.reportPanic(req, p.Reason, p.Stack)
	}
}

func (s *Server) reportPanic(req *http.Request, reason any, stack []byte) {
	what := "a write from this process"
	if req != nil {
		what = req.Method + " " + req.URL.String()
	}
	s.log.Error("kubeapi: panic while serving a request; please report it with the request's body",
		"request", what, "reason", fmt.Sprint(reason), "stack", string(stack))
}

// netLog receives the log of net/http. It passes on panics only: the other messages are
// about failed handshakes and closed connections of clients.
type netLog struct{ log *slog.Logger }

func (n netLog) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("panic")) {
		n.log.Error("kubeapi: " + string(bytes.TrimSpace(line)))
	}
	return len(line), nil
}
