package controller_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
)

func reloaded(sync record) bool { return sync.Reload }
func posted(sync record) bool   { return len(sync.Posts) > 0 }
func failed(sync record) bool   { return sync.Error != "" }

// because matches a sync with a reason that contains the text. A sync is logged when it ends, and
// nginx may serve its result before that. So the next record may belong to an earlier change.
func because(text string) func(record) bool {
	return func(sync record) bool {
		return slices.ContainsFunc(sync.Why, func(why string) bool { return strings.Contains(why, text) })
	}
}

func TestEndpointsChangeWithoutReload(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.log.next("ready")
	if got := r.get(r.ports.Health, "", "/healthz"); got != "ok" {
		t.Errorf("/healthz answers %q after ready", got)
	}
	r.service(pod(t, "127.88.0.1", "one"))
	r.awaitAnswer("one")
	before := r.workers()
	if len(before) != 2 {
		t.Fatalf("workers %v, want 2", before)
	}

	r.move(pod(t, "127.88.0.2", "two"))
	sync := r.awaitSync(because("127.88.0.2"))
	if len(sync.Posts) != 1 || sync.Reload || sync.Error != "" || sync.Took <= 0 || sync.Change == 0 {
		t.Fatalf("sync of an endpoint: %+v", sync)
	}
	if post := sync.Posts[0]; post.Path != "/configuration/backends" || post.Bytes == 0 || post.Took <= 0 {
		t.Errorf("POST: %+v", post)
	}
	r.awaitAnswer("two")
	if after := r.workers(); !slices.Equal(before, after) {
		t.Errorf("workers %v became %v", before, after)
	}
}

func TestEndpointsChangeByReloadInReloadMode(t *testing.T) {
	t.Parallel()
	r := launch(t, false)
	r.log.next("ready")
	r.service(pod(t, "127.88.0.1", "one"))
	r.awaitAnswer("one")
	before, master := r.workers(), r.master()

	r.move(pod(t, "127.88.0.2", "two"))
	sync := r.awaitSync(because("127.88.0.2"))
	if !sync.Reload || sync.Error != "" || len(sync.Posts) > 0 {
		t.Errorf("sync of an endpoint: %+v", sync)
	}
	if p := sync.Phases; p.Render <= 0 || p.Test <= 0 || p.Signal <= 0 || p.FirstWorker <= 0 {
		t.Errorf("phases: %+v", p)
	}
	r.awaitAnswer("two")
	after := r.workers()
	if slices.ContainsFunc(after, func(pid int) bool { return slices.Contains(before, pid) }) || len(after) != 2 {
		t.Errorf("workers %v became %v, want 2 new ones", before, after)
	}
	if r.master() != master {
		t.Errorf("nginx's master was replaced")
	}
}

func TestBadConfigurationKeepsTheGoodOne(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.service(pod(t, "127.88.0.1", "one"))
	r.awaitAnswer("one")
	before := r.workers()

	update := r.client.CoreV1().ConfigMaps("default").Update
	r.configure(map[string]string{"http-snippet": "no_such_directive on;", "no-such-key": "1"}, update)
	sync := r.awaitSync(failed)
	if sync.Reload || !strings.Contains(sync.Error, "no_such_directive") || !strings.Contains(sync.Error, "nginx.conf.next") {
		t.Errorf("sync of a bad snippet: %+v", sync)
	}
	if got := r.get(r.ports.HTTP, "web.example", "/"); got != "one" {
		t.Errorf("nginx answers %q", got)
	}
	if after := r.workers(); !slices.Equal(before, after) {
		t.Errorf("workers %v became %v", before, after)
	}
	if got := r.get(r.ports.Health, "", "/metrics"); !strings.Contains(got, "\nnginx_ingress_controller_config_last_reload_successful{") {
		t.Errorf("no config_last_reload_successful in /metrics:\n%s", got)
	}
	r.configure(map[string]string{"http-snippet": "# all is well"}, update)
	r.awaitSync(reloaded)
	r.awaitAnswer("one")
}

func TestFindingsAreLoggedOnce(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	update := r.client.CoreV1().ConfigMaps("default").Update
	r.log.next("ready")
	r.configure(map[string]string{"no-such-key": "1"}, update)
	if found := r.log.next("finding"); !strings.Contains(found.What, "default/controller: no-such-key") {
		t.Errorf("finding %q", found.What)
	}
	r.configure(map[string]string{"no-such-key": "1", "server-tokens": "true"}, update)
	for {
		line := <-r.log.lines
		if line.Msg == "finding" {
			t.Errorf("logged again: %q", line.What)
		}
		if line.Msg == "sync" && line.Reload {
			break
		}
	}
}

func TestServesWithoutTheAPIServer(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.service(pod(t, "127.88.0.1", "one"))
	r.log.next("ready")
	r.awaitAnswer("one")
	if err := r.api.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.awaitAnswer("one")
	if got := r.get(r.ports.Health, "", "/healthz"); got != "ok" {
		t.Errorf("/healthz answers %q", got)
	}
}

func TestNginxDies(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.log.next("ready")
	workers := r.workers()
	if err := syscall.Kill(r.master(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.log.next("nginx ended unexpectedly; it is not restarted, and /healthz fails")
	if got := r.get(r.ports.Health, "", "/healthz"); !strings.HasPrefix(got, "500") || !strings.Contains(got, "nginx's master process") {
		t.Errorf("/healthz answers %q", got)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	for _, pid := range workers {
		if alive(pid) {
			t.Errorf("worker %d still runs", pid)
		}
	}
}

func TestStopLeavesNoProcess(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.log.next("ready")
	pids := append(r.workers(), r.master())
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
	if got := r.get(r.ports.Health, "", "/healthz"); !strings.Contains(got, "refused") {
		t.Errorf("the health port answers %q", got)
	}
}

// A pod may return with the same address and another port.
func TestPortsOfEndpointsAreFollowed(t *testing.T) {
	t.Parallel()
	r := launch(t, true, func(r *running) { r.service(pod(r.T, "127.88.0.1", "one")) })
	r.awaitAnswer("one")
	r.move(pod(t, "127.88.0.1", "two"))
	r.awaitAnswer("two")
}
