package health

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHandler(t *testing.T) {
	var wrong error
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	handler := Handler("/healthz", func(context.Context) error { return wrong }, metrics)
	want := func(path string, status int, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != status || w.Body.String() != body {
			t.Errorf("%s: %d %q, want %d %q", path, w.Code, w.Body, status, body)
		}
	}
	want("/healthz", http.StatusOK, "ok")
	want("/healthz?verbose", http.StatusOK, "[+]ping ok\n[+]nginx-ingress-controller ok\nhealthz check passed\n")
	want("/healthz?verbose&exclude=ping", http.StatusOK, "[+]ping excluded: ok\n[+]nginx-ingress-controller ok\nhealthz check passed\n")
	want("/healthz/nginx-ingress-controller", http.StatusOK, "ok")

	wrong = errors.New("nginx is not running")
	const failed = "[+]ping ok\n[-]nginx-ingress-controller failed: nginx is not running\nhealthz check failed\n"
	want("/healthz", http.StatusInternalServerError, failed)
	want("/readyz", http.StatusInternalServerError, failed)
	want("/healthz?exclude=nginx-ingress-controller", http.StatusOK, "ok")
	want("/healthz?exclude=nginx-ingress-controller&exclude=etcd&verbose", http.StatusOK,
		"[+]ping ok\n[+]nginx-ingress-controller excluded: ok\nwarn: some health checks cannot be excluded: no matches for \"etcd\"\nhealthz check passed\n")
	want("/healthz/nginx-ingress-controller", http.StatusInternalServerError, "internal server error: nginx is not running\n")
	want("/healthz/ping", http.StatusOK, "ok")
	want("/metrics", http.StatusTeapot, "")
	want("/", http.StatusNotFound, "404 page not found\n")
}
