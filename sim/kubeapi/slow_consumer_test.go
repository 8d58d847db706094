package kubeapi

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/fault"
)

// gate makes a client stop reading.
type gate struct{ sync.Mutex }

func (g *gate) RoundTripper(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(req)
		if err == nil {
			resp.Body = gatedBody{resp.Body, g}
		}
		return resp, err
	})
}

type gatedBody struct {
	io.ReadCloser
	gate *gate
}

func (b gatedBody) Read(p []byte) (int, error) {
	b.gate.Lock()
	defer b.gate.Unlock()
	return b.ReadCloser.Read(p[:min(len(p), 64<<10)])
}

// A watcher that does not read costs the writers nothing. When the history has moved past it, its
// stream ends without an ERROR. It then resumes from the last event that it has read, gets an error
// because this is too late, and lists again, once.
func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const window = 10
	configMapsOf(r.s).LimitHistory(window)
	var g gate
	r.subject.Wrap(g.RoundTripper)
	r.follow()
	// The waiting reader already has the gate. It reads one event and is then locked out.
	locked := make(chan struct{})
	go func() { g.Lock(); close(locked) }()
	large := strings.Repeat("x", 500<<10)
	written := 0
	write := func() {
		cm := configMap(fmt.Sprint("large-", written), "1")
		cm.Data = map[string]string{"k": large}
		if _, err := r.operator.Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		written++
	}
	write()
	<-locked
	for range 4 * window { // more than the socket buffers hold, and then more than the window
		write()
	}
	g.Unlock()
	r.settled()
	r.asked("WATCH WATCHLIST")
}

// A slow watcher that stays within the window receives all events, on one stream.
func TestSlowConsumerWithinTheWindow(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.inject(fault.Drip(200, 1), fault.Scope{Verbs: []string{"watchlist"}})
	r.follow()
	for i := range 50 {
		r.create(fmt.Sprint("n-", i))
	}
	r.settled()
	r.asked("")
}
