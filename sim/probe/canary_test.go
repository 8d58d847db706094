package probe

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// pods answers with a pod's name, on any connection.
func pods(t *testing.T, header string, answer func() string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "shop.example" {
			w.Header().Set(header, answer())
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// await waits until a canary has no open change.
func await(t *testing.T, c *Canary) {
	t.Helper()
	for began := time.Now(); c.Pending() > 0; time.Sleep(time.Millisecond) {
		if time.Since(began) > 20*time.Second {
			t.Fatal("the change stays open")
		}
	}
}

// answers runs a canary until its change is closed, and returns the pods that answered in order.
func answers(t *testing.T, change event.Change, o CanaryOptions) []string {
	t.Helper()
	var text bytes.Buffer
	log := event.NewLog(&text, time.Now())
	ctx, stop := context.WithCancel(t.Context())
	c := StartCanary(ctx, log, "observed", o)
	c.Watch(change)
	await(t, c)
	stop()
	<-c.Done()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for e, err := range event.Read(&text) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Answer == nil || e.Answer.Worker != event.SomeWorker || e.Answer.Change != change.ID {
			t.Errorf("event %+v", e)
			continue
		}
		got = append(got, e.Answer.Pod)
	}
	return got
}

var moved = event.Change{ID: 7, Host: "shop.example", Service: "shop/web", Added: []string{"shop/new"}, Removed: []string{"shop/old"}, Pods: 1}

// A change is asked about until no answer has shown the old state for a while.
func TestCanary(t *testing.T) {
	var asked atomic.Int32
	address := pods(t, podHeader, func() string {
		if n := asked.Add(1); n < 5 || n == 7 { // a worker that is slower than others
			return "shop/old"
		}
		return "shop/new"
	})
	got := answers(t, moved, CanaryOptions{Address: address, Gap: 5 * time.Millisecond, Quiet: 200 * time.Millisecond})
	olds := 0
	for _, pod := range got {
		if pod == "shop/old" {
			olds++
		}
	}
	if olds != 5 || len(got) < 10 || got[len(got)-1] != "shop/new" {
		t.Errorf("%d answers of the old pod among %d: %v", olds, len(got), got)
	}
}

// Pods may name themselves in another header, without their namespace.
func TestCanaryWithItsOwnHeader(t *testing.T) {
	address := pods(t, "X-Pod", func() string { return "new" })
	got := answers(t, moved, CanaryOptions{Address: address, Gap: 5 * time.Millisecond, Quiet: 50 * time.Millisecond, Header: "X-Pod"})
	if len(got) == 0 || got[0] != "shop/new" {
		t.Errorf("answers of %v", got)
	}
}

// A change that is never served is given up.
func TestCanaryGivesUp(t *testing.T) {
	address := pods(t, podHeader, func() string { return "shop/old" })
	got := answers(t, moved, CanaryOptions{Address: address, Gap: 5 * time.Millisecond, Patience: 200 * time.Millisecond})
	if len(got) < 2 {
		t.Errorf("%d answers", len(got))
	}
}

func TestCanaryIdentifies(t *testing.T) {
	address := pods(t, podHeader, func() string { return "shop/a" })
	c := StartCanary(t.Context(), event.NewLog(&bytes.Buffer{}, time.Now()), "observed", CanaryOptions{Address: address})
	for host, want := range map[string]string{"shop.example": "shop/a", "plain.example": ""} {
		if got, err := c.Identifies(t.Context(), event.Change{Host: host, Service: "shop/web"}); err != nil || got != want {
			t.Errorf("%s: %q, %v", host, got, err)
		}
	}
}
