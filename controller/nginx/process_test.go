package nginx_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/process"
)

func TestReloadStartsNewWorkersOfTheSameMaster(t *testing.T) {
	address := nginxtest.FreeAddress(t)
	n := start(t, address, `return 200 old;`)
	old := n.AwaitWorkers("two workers", twoActive)
	if age := time.Since(old[0].Started); age < -time.Second || age > nginxtest.Patience {
		t.Errorf("a new worker is %v old", age)
	}

	listenAt(address, `return 204;`).Write(t, n.Folder)
	if err := n.Process.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.AwaitWorkers("two other workers", func(now []nginx.Worker) bool {
		return twoActive(now) && !slices.ContainsFunc(now, func(w nginx.Worker) bool { return w.PID == old[0].PID || w.PID == old[1].PID })
	})
	if got := nginxtest.Get(t, http.DefaultClient, "http://"+address); got.Status != http.StatusNoContent {
		t.Errorf("status %d after the reload, want 204", got.Status)
	}
}

func TestDrainingWorkerIsSeenWhileItHasARequest(t *testing.T) {
	backend, address := newSlow(t), nginxtest.FreeAddress(t)
	n := start(t, address, "location / { proxy_pass http://"+backend.address+"; }")
	n.AwaitWorkers("two workers", twoActive)
	status := backend.hold(t, address)

	if err := n.Process.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.AwaitWorkers("two active and a draining worker", func(now []nginx.Worker) bool {
		draining := slices.IndexFunc(now, func(w nginx.Worker) bool { return w.Draining })
		return len(now) == 3 && draining >= 0
	})
	close(backend.released)
	n.AwaitWorkers("the end of the draining worker", twoActive)
	if got := <-status; got != "HTTP/1.1 200 OK\r\n<nil>" {
		t.Errorf("the held request got %q", got)
	}
}

func TestQuitLetsRequestsFinishAndLeavesNothing(t *testing.T) {
	backend, address := newSlow(t), nginxtest.FreeAddress(t)
	n := start(t, address, "location / { proxy_pass http://"+backend.address+"; }")
	n.AwaitWorkers("two workers", twoActive)
	status := backend.hold(t, address)

	quit := make(chan error, 1)
	go func() { quit <- n.Process.Quit(t.Context()) }()
	n.AwaitWorkers("a draining worker", func(now []nginx.Worker) bool { return len(now) == 1 && now[0].Draining })
	close(backend.released)
	if err := <-quit; err != nil {
		t.Error(err)
	}
	if got := <-status; got != "HTTP/1.1 200 OK\r\n<nil>" {
		t.Errorf("the held request got %q", got)
	}
	wantGone(t, n.Process)
	if n.Process.Err() != nil {
		t.Errorf("error after a graceful end: %v", n.Process.Err())
	}
}

func TestQuitOutOfTimeTerminates(t *testing.T) {
	backend, address := newSlow(t), nginxtest.FreeAddress(t)
	n := start(t, address, "location / { proxy_pass http://"+backend.address+"; }")
	n.AwaitWorkers("two workers", twoActive)
	backend.hold(t, address)

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	wantError(t, n.Process.Quit(ctx), "in time", "terminated", "deadline")
	wantGone(t, n.Process)
}

func TestQuitEndsWorkersOfADeadMaster(t *testing.T) {
	n := start(t, nginxtest.FreeAddress(t), "return 200;")
	p := n.Process
	n.AwaitWorkers("two workers", twoActive)
	if err := syscall.Kill(p.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(nginxtest.Patience):
		t.Fatal("the end of the master was not noticed")
	}
	wantError(t, p.Err(), "killed")
	wantError(t, p.Reload(t.Context()), "reloading nginx", "has ended")
	if err := p.Quit(t.Context()); err != nil {
		t.Error(err)
	}
	wantGone(t, p)
}

// An nginx that has ended needs no time to finish requests.
func TestQuitAfterTheEnd(t *testing.T) {
	p := start(t, nginxtest.FreeAddress(t), "return 200;").Process
	if err := p.Quit(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if err := p.Quit(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

func wantGone(t *testing.T, p *nginx.Process) {
	t.Helper()
	if _, err := p.Workers(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the master still runs: %v", err)
	}
	if left, err := process.Group(p.PID()); err != nil || len(left) > 0 {
		t.Errorf("processes %v still run, %v", left, err)
	}
}

func TestErrorsContainNginxsMessage(t *testing.T) {
	address := nginxtest.FreeAddress(t)
	n := start(t, address, "return 200;")
	workers := n.AwaitWorkers("two workers", twoActive)
	good := listenAt(address, "return 200;").Write(t, n.Folder)
	if err := n.Program.Test(t.Context(), good); err != nil {
		t.Fatalf("a good configuration: %v", err)
	}

	conf := listenAt(address, "retrun 200;")
	file := conf.Write(t, n.Folder)
	before, _, _ := strings.Cut(conf.In(n.Folder), "retrun")
	message := []string{`[emerg] unknown directive "retrun"`, fmt.Sprintf("%s:%d", file, 1+strings.Count(before, "\n"))}
	wantError(t, n.Program.Test(t.Context(), file), append(message, "testing the configuration")...)
	wantError(t, n.Process.Reload(t.Context()), append(message, "reloading nginx")...)
	if now := n.AwaitWorkers("two workers", twoActive); !slices.Equal(now, workers) && now[0].PID != workers[0].PID {
		t.Errorf("a refused reload changed the workers from %v to %v", workers, now)
	}
	_, err := n.Program.Start(t.Context(), file)
	wantError(t, err, append(message, "starting nginx")...)
}

func TestStartFailsIfThePortIsInUse(t *testing.T) {
	address := nginxtest.FreeAddress(t)
	n := start(t, address, "return 200;")
	_, err := n.Program.Start(t.Context(), listenAt(address, "return 200;").Write(t, nginxtest.Folder(t)))
	wantError(t, err, "starting nginx", address, "Address already in use")
}

func TestStartRequiresDaemonOff(t *testing.T) {
	program, _ := nginxtest.Find(t)
	conf := filepath.Join(t.TempDir(), "nginx.conf")
	if err := os.WriteFile(conf, []byte("# daemon off;\nevents {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := program.Start(t.Context(), conf)
	wantError(t, err, conf, "`daemon off;`")
}

func TestStderrIsCopied(t *testing.T) {
	program, _ := nginxtest.Find(t)
	conf := nginxtest.Conf{Main: "error_log stderr notice;"}
	stderr := new(strings.Builder)
	p, err := program.Start(t.Context(), conf.Write(t, nginxtest.Folder(t)), nginx.Stderr(stderr))
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
	if _, err := nginx.Workers(1 << 30); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want an error that wraps fs.ErrNotExist", err)
	}
}
