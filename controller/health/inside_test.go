package health

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProxiedRequestsToLoopbackAreRefused(t *testing.T) {
	handlers := map[string]http.Handler{
		"/healthz":            Handler("/healthz", func(context.Context) error { return nil }, http.NotFoundHandler()),
		"/debug/pprof/symbol": Profiler(),
	}
	for _, test := range []struct {
		from, header string
		want         int
	}{
		{"127.0.0.1:1", "", http.StatusOK},
		{"127.0.0.1:1", "X-Sent-From", http.StatusForbidden},
		{"[::1]:1", "X-Real-IP", http.StatusForbidden},
		{"[::ffff:127.0.0.1]:1", "X-Real-IP", http.StatusForbidden},
		{"127.0.0.1:1", "X-Forwarded-For", http.StatusOK}, // from another proxy in the pod
		{"10.0.0.1:1", "X-Real-IP", http.StatusOK},        // through a Service
	} {
		for path, handler := range handlers {
			request := httptest.NewRequest(http.MethodGet, path, nil)
			request.RemoteAddr = test.from
			if test.header != "" {
				request.Header.Set(test.header, "")
			}
			w := httptest.NewRecorder()
			if handler.ServeHTTP(w, request); w.Code != test.want {
				t.Errorf("%s from %s with %q: %d, want %d", path, test.from, test.header, w.Code, test.want)
			}
		}
	}
}
