package apply

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

func TestHealthy(t *testing.T) {
	initialized := http.StatusOK
	status := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/is-dynamic-lb-initialized" {
			t.Errorf("request for %s", r.URL)
		}
		w.WriteHeader(initialized)
	}))
	defer status.Close()
	layout := Layout{Root: t.TempDir()}
	if err := layout.Make(); err != nil {
		t.Fatal(err)
	}
	target := New(Options{Layout: layout, StatusPort: status.Listener.Addr().(*net.TCPAddr).Port})
	want := func(part string) {
		t.Helper()
		err := target.Healthy(t.Context())
		if part == "" && err != nil || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
			t.Errorf("got %v, want %q", err, part)
		}
	}
	pid := func(text string) {
		t.Helper()
		if err := os.WriteFile(layout.PID(), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want("nginx is not running")
	pid("no number")
	want("nginx's PID")
	pid("2147483646\n") // larger than any PID
	want("nginx's master process 2147483646")
	pid(fmt.Sprintln(os.Getpid()))
	want("")
	initialized = http.StatusInternalServerError
	want("no backends yet")
	status.Close()
	want("nginx's status server")
}
