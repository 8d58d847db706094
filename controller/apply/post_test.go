package apply

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// A worker may end just when the controller sends it a change over the kept connection.
func TestPostsKeepAConnection(t *testing.T) {
	var connections, posts atomic.Int32
	var dying atomic.Bool
	status := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if dying.CompareAndSwap(true, false) {
			panic(http.ErrAbortHandler) // ends the connection without an answer
		}
		if len(r.Header["Idempotency-Key"]) > 0 {
			t.Error("nginx receives a header that is only for the transport")
		}
		posts.Add(1)
		w.WriteHeader(http.StatusCreated)
	}))
	status.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	status.Start()
	defer status.Close()
	target := New(Options{StatusPort: status.Listener.Addr().(*net.TCPAddr).Port})
	post := func() {
		t.Helper()
		if _, err := target.postOnce(t.Context(), "/configuration/backends", []byte("[]")); err != nil {
			t.Error(err)
		}
	}
	for range 3 {
		post()
	}
	if got := connections.Load(); got != 1 {
		t.Errorf("3 POSTs took %d connections, want 1", got)
	}
	dying.Store(true)
	post()
	if got := connections.Load(); got != 2 || posts.Load() != 4 {
		t.Errorf("after the end of a worker: %d connections and %d POSTs, want 2 and 4", got, posts.Load())
	}
}
