package controller_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"windtunnel.dev/controller"
)

// With a limit for reloads only, a second new host waits, but endpoint changes do not.
func TestReloadsHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	r := launchAs(t, true, func(c *controller.Config) {
		c.SyncRate, c.DynamicSyncRate = 0.1, 1000
	}, func(r *running) { r.service(pod(t, "127.0.45.1", "one")) })
	r.log.next("ready")
	r.addIngress(withSnippet("first", ""))
	r.log.next("a reload waits for --sync-rate-limit")
	for _, name := range []string{"two", "three"} {
		r.move(pod(t, "127.0.45."+map[string]string{"two": "2", "three": "3"}[name], name))
		r.awaitAnswer(name)
	}
	if got := r.get(r.ports.HTTP, "first.example", "/"); !strings.HasPrefix(got, "404") {
		t.Errorf("while the reload waits, the host answers %q", got)
	}
	r.awaitHost("first.example", "three") // nothing else asks for a sync
}

// The limit does not delay the start of nginx, not even after a failed start: before the start,
// nginx cannot receive the changes that need no reload.
func TestStartIsNotLimited(t *testing.T) {
	t.Parallel()
	var taken net.Listener
	r := launchAs(t, true, func(c *controller.Config) {
		c.SyncRate, c.DynamicSyncRate = 0.01, 1000
		var err error
		if taken, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", c.Options.Ports.HTTP)); err != nil {
			t.Error(err)
		}
	}, func(r *running) { r.service(pod(t, "127.0.47.1", "one")) })
	if failed := r.log.next("sync"); !strings.Contains(failed.Error, "bind()") {
		t.Fatalf("the first sync did not fail: %+v", failed)
	}
	taken.Close()
	for {
		next := r.log.next("sync")
		if next.Error == "" {
			break
		}
		if !strings.Contains(next.Error, "bind()") {
			t.Fatalf("after a failed start: %s", next.Error)
		}
	}
	r.log.next("ready")
}
