package controller_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// With enable-serial-reloads, the second reload waits until the old workers of the first one have
// ended. Changes without a reload do not wait.
func TestSerialReloads(t *testing.T) {
	t.Parallel()
	slow, asked, release := podThatWaits(t, "127.88.0.1")
	r := launch(t, true, func(r *running) {
		r.configure(map[string]string{"enable-serial-reloads": "true"}, r.client.CoreV1().ConfigMaps("default").Update)
		r.service(slow)
	})
	r.log.next("ready")
	answered := make(chan string, 1)
	go func() { answered <- r.get(r.ports.HTTP, "web.example", "/") }()
	<-asked // the request has reached the pod; an old worker will keep it
	r.addIngress(withSnippet("first", ""))
	r.awaitSync(reloaded)
	r.addIngress(withSnippet("second", ""))
	r.log.next("a reload waits until the old workers of the previous one have ended")
	r.move(pod(t, "127.88.0.2", "two"))
	r.awaitHost("first.example", "two") // a change of an endpoint needs no reload
	if got := r.get(r.ports.HTTP, "second.example", "/"); !strings.HasPrefix(got, "404") {
		t.Errorf("while the reload waits, the host answers %q", got)
	}
	release()
	if got := <-answered; got != "waited" {
		t.Errorf("the request over both reloads got %q", got)
	}
	gone := r.log.next("old workers gone")
	if gone.Took <= 0 {
		t.Errorf("record %+v", gone)
	}
	r.awaitHost("second.example", "two")
	if line := metric(r.get(r.ports.Health, "", "/metrics"), `reload_phase_duration_seconds_count`); line == "" {
		t.Error("no metric of the phases")
	}
}

// podThatWaits starts a pod. It closes asked at its first request, and answers it when release is
// called. It answers all other requests at once.
func podThatWaits(t *testing.T, address string) (pod *net.TCPAddr, asked <-chan struct{}, release func()) {
	t.Helper()
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	first, released := make(chan struct{}), make(chan struct{})
	var later atomic.Bool
	server := &httptest.Server{Listener: listener, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !later.Swap(true) {
			close(first)
			<-released
		}
		io.WriteString(w, "waited")
	})}}
	server.Start()
	t.Cleanup(server.Close)
	release = sync.OnceFunc(func() { close(released) })
	t.Cleanup(release)
	return listener.Addr().(*net.TCPAddr), first, release
}
