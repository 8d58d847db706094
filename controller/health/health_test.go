package health

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHandler(t *testing.T) {
	var wrong error
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	handler := Handler("/healthz", func(context.Context) error { return wrong }, metrics)
	want := func(path string, status int, part string) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%s: %d %q, want %d %q", path, w.Code, w.Body, status, part)
		}
	}
	want("/healthz", http.StatusOK, "ok")
	want("/healthz/nginx-ingress-controller", http.StatusOK, "ok")
	wrong = errors.New("nginx is not running")
	want("/healthz", http.StatusInternalServerError, "nginx is not running")
	want("/healthz/nginx-ingress-controller", http.StatusInternalServerError, "nginx is not running")
	want("/healthz/ping", http.StatusOK, "ok")
	want("/metrics", http.StatusTeapot, "")
	want("/", http.StatusNotFound, "")
}
