package nginx

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestReloadStartsNewWorkersOfTheSameMaster(t *testing.T) {
	n := found(t)
	address := freeAddress(t)
	conf := write(t, address, `return 200 old;`)
	p := start(t, n, conf)
	old := await(t, p, "two workers", twoActive)
	if age := time.Since(old[0].Started); age < -time.Second || age > patience {
		t.Errorf("a new worker is %v old", age)
	}

	rewrite(t, conf, address, `return 204;`)
	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, p, "two other workers", func(now []Worker) bool {
		return twoActive(now) && !slices.ContainsFunc(now, func(w Worker) bool { return w.PID == old[0].PID || w.PID == old[1].PID })
	})
	response, err := http.Get("http://" + address)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNoContent {
		t.Errorf("status %d after the reload, want 204", response.StatusCode)
	}
}

func TestDrainingWorkerIsSeenWhileItHasARequest(t *testing.T) {
	n := found(t)
	backend, address := newSlow(t), freeAddress(t)
	p := start(t, n, write(t, address, "location / { proxy_pass http://"+backend.address+"; }"))
	await(t, p, "two workers", twoActive)
	status := backend.hold(t, address)

	if err := p.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, p, "two active and a draining worker", func(now []Worker) bool {
		draining := slices.IndexFunc(now, func(w Worker) bool { return w.Draining })
		return len(now) == 3 && draining >= 0
	})
	close(backend.released)
	await(t, p, "the end of the draining worker", twoActive)
	if got := <-status; got != "HTTP/1.1 200 OK\r\n<nil>" {
		t.Errorf("the held request got %q", got)
	}
}

func TestQuitLetsRequestsFinishAndLeavesNothing(t *testing.T) {
	n := found(t)
	backend, address := newSlow(t), freeAddress(t)
	p := start(t, n, write(t, address, "location / { proxy_pass http://"+backend.address+"; }"))
	workers := await(t, p, "two workers", twoActive)
	status := backend.hold(t, address)

	quit := make(chan error, 1)
	go func() { quit <- p.Quit(t.Context()) }()
	await(t, p, "a draining worker", func(now []Worker) bool { return len(now) == 1 && now[0].Draining })
	close(backend.released)
	if err := <-quit; err != nil {
		t.Error(err)
	}
	if got := <-status; got != "HTTP/1.1 200 OK\r\n<nil>" {
		t.Errorf("the held request got %q", got)
	}
	wantGone(t, p, workers)
	if p.Err() != nil {
		t.Errorf("error after a graceful end: %v", p.Err())
	}
}

func TestQuitOutOfTimeTerminates(t *testing.T) {
	n := found(t)
	backend, address := newSlow(t), freeAddress(t)
	p := start(t, n, write(t, address, "location / { proxy_pass http://"+backend.address+"; }"))
	workers := await(t, p, "two workers", twoActive)
	backend.hold(t, address)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantError(t, p.Quit(ctx), "in time", "terminated", "deadline")
	wantGone(t, p, workers)
}

func TestQuitEndsWorkersOfADeadMaster(t *testing.T) {
	n := found(t)
	p := start(t, n, write(t, freeAddress(t), "return 200;"))
	workers := await(t, p, "two workers", twoActive)
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(patience):
		t.Fatal("the end of the master was not noticed")
	}
	wantError(t, p.Err(), "killed")
	wantError(t, p.Reload(t.Context()), "reloading nginx", "has ended")
	if err := p.Quit(t.Context()); err != nil {
		t.Error(err)
	}
	wantGone(t, p, workers)
}

func wantGone(t *testing.T, p *Process, workers []Worker) {
	t.Helper()
	if _, err := p.Workers(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the master still runs: %v", err)
	}
	for _, w := range workers {
		// A worker whose master was killed is a zombie until init reaps it.
		if title, _, err := inspect(w.PID); err == nil && title != "" {
			t.Errorf("worker %d still runs: %s", w.PID, title)
		}
	}
}

func TestErrorsContainNginxsMessage(t *testing.T) {
	n := found(t)
	address := freeAddress(t)
	conf := write(t, address, "return 200;")
	p := start(t, n, conf)
	workers := await(t, p, "two workers", twoActive)
	if err := n.Test(t.Context(), conf); err != nil {
		t.Fatalf("a good configuration: %v", err)
	}

	rewrite(t, conf, address, "retrun 200;")
	message := []string{`[emerg] unknown directive "retrun"`, conf + ":15"}
	wantError(t, n.Test(t.Context(), conf), append(message, "testing the configuration")...)
	wantError(t, p.Reload(t.Context()), append(message, "reloading nginx")...)
	if now := await(t, p, "two workers", twoActive); !slices.Equal(now, workers) && now[0].PID != workers[0].PID {
		t.Errorf("a refused reload changed the workers from %v to %v", workers, now)
	}
	_, err := n.Start(t.Context(), conf)
	wantError(t, err, append(message, "starting nginx")...)
}

func TestStartFailsIfThePortIsInUse(t *testing.T) {
	n := found(t)
	address := freeAddress(t)
	start(t, n, write(t, address, "return 200;"))
	_, err := n.Start(t.Context(), write(t, address, "return 200;"))
	wantError(t, err, "starting nginx", address, "Address already in use")
}

func TestStartRequiresDaemonOff(t *testing.T) {
	n := found(t)
	conf := filepath.Join(t.TempDir(), "nginx.conf")
	if err := os.WriteFile(conf, []byte("# daemon off;\nevents {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := n.Start(t.Context(), conf)
	wantError(t, err, conf, "`daemon off;`")
}

func TestStderrIsCopied(t *testing.T) {
	n := found(t)
	stderr := new(tail)
	p, err := n.Start(t.Context(), write(t, freeAddress(t), "return 200;"), Stderr(stderr))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Quit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := stderr.String(); text == "" {
		t.Error("nginx's notices were not copied")
	}
}

func TestWorkersOfAMissingMaster(t *testing.T) {
	if _, err := Workers(1 << 30); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error that wraps fs.ErrNotExist", err)
	}
}
