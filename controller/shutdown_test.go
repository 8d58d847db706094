package controller_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/controller"
)

// After the first signal, the controller reports that it is unhealthy, so no new clients arrive. It
// still serves and follows the cluster during the grace period. A second signal ends the grace
// period, and nginx immediately.
func TestGracePeriod(t *testing.T) {
	hurry, signal := context.WithCancel(t.Context())
	defer signal()
	r := launchUntil(t, hurry, true, func(c *controller.Config) {
		c.ShutdownGrace, c.PostShutdownGrace = time.Hour, time.Hour
	}, func(r *running) { r.service(pod(t, "127.88.0.1", "one")) })
	r.log.next("ready")
	pids := append(r.workers(), r.master())
	ended := make(chan error, 1)
	go func() { ended <- r.stop() }()
	const unhealthy = "the controller is shutting down"
	var said string
	for end := time.Now().Add(limit); !strings.HasPrefix(said, "500") || !strings.Contains(said, unhealthy); time.Sleep(time.Millisecond) {
		if said = r.get(r.ports.Health, "", "/healthz"); time.Now().After(end) {
			t.Fatalf("/healthz answers %q, want %q", said, unhealthy)
		}
	}
	r.awaitAnswer("one")
	r.move(pod(t, "127.88.0.2", "two"))
	r.awaitAnswer("two")
	select {
	case err := <-ended:
		t.Fatalf("the controller did not wait: %v", err)
	default:
	}
	signal()
	if err := <-ended; err != nil && !strings.Contains(err.Error(), "was terminated") { // no error if nginx ends in time
		t.Error(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
}

// On shutdown, open requests are answered before the controller ends.
func TestOpenRequestsAreAnsweredOnShutdown(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	r := launch(t, true, func(r *running) {
		r.deploy("slow", serve(t, "127.88.1.1", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(asked)
			<-answer
			io.WriteString(w, "answered")
		})))
		r.route("slow", "slow.example", "/", "slow")
	})
	r.log.next("ready")
	answered := make(chan string, 1)
	go func() { answered <- r.get(r.ports.HTTP, "slow.example", "/") }()
	<-asked
	ended := make(chan error, 1)
	go func() { ended <- r.stop() }()
	for end := time.Now().Add(limit); !strings.Contains(r.get(r.ports.HTTP, "new.example", "/"), "refused"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nginx still accepts new connections")
		}
	}
	select {
	case err := <-ended:
		t.Errorf("the controller ended before the request: %v", err)
	default:
	}
	close(answer)
	if got := <-answered; got != "answered" {
		t.Errorf("the open request got the answer %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
