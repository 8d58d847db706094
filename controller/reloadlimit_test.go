package controller_test

import (
	"strings"
	"testing"

	"windtunnel.dev/controller"
)

// With a limit for reloads only, a second new host waits, and endpoints do not.
func TestReloadsHaveALimitOfTheirOwn(t *testing.T) {
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
