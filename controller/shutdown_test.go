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

// From the signal on the controller says that it is not healthy, so that no
// new clients come, but it goes on to serve and to follow the cluster for the
// grace period. A second signal ends that, and nginx at once.
func TestTheGracePeriod(t *testing.T) {
	hurry, signal := context.WithCancel(t.Context())
	defer signal()
	r := launchUntil(t, hurry, true, func(c *controller.Config) {
		c.ShutdownGrace, c.PostShutdownGrace = time.Hour, time.Hour
	}, func(r *running) { r.service(pod(t, "127.88.0.1", "one")) })
	r.log.next("ready")
	pids := append(r.workers(), r.master())
	ended := make(chan error, 1)
	go func() { ended <- r.stop() }()
	const unhealthy = "500 the controller is shutting down"
	var said string
	for end := time.Now().Add(limit); !strings.HasPrefix(said, unhealthy); time.Sleep(time.Millisecond) {
		if said = r.get(r.ports.Health, "", "/healthz"); time.Now().After(end) {
			t.Fatalf("/healthz says %q, want %q", said, unhealthy)
		}
	}
	r.awaitAnswer("one")
	r.move(pod(t, "127.88.0.2", "two"))
	r.awaitAnswer("two")
	select {
	case err := <-ended:
		t.Fatalf("it has not waited: %v", err)
	default:
	}
	signal()
	if err := <-ended; err != nil && !strings.Contains(err.Error(), "was terminated") { // it may be quick enough
		t.Error(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
}

// Requests that are under way at the end are answered; the controller ends
// after them.
func TestRequestsUnderWayAreAnswered(t *testing.T) {
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
			t.Fatal("nginx takes new connections still")
		}
	}
	select {
	case err := <-ended:
		t.Errorf("it ended before the request: %v", err)
	default:
	}
	close(answer)
	if got := <-answered; got != "answered" {
		t.Errorf("the request under way is answered %q", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
