package agent

import (
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// awaitChange returns how a child has changed: it was stopped, continues, or has ended.
func awaitChange(t *testing.T, pid, options int) syscall.WaitStatus {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, options, nil); err != nil {
		t.Fatal(err)
	}
	return status
}

// An agent signals the processes that it observes, and no others. Those that it has stopped continue when
// it ends.
func TestSignals(t *testing.T) {
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { sleeper.Process.Kill(); sleeper.Wait() })
	pid := sleeper.Process.Pid
	s, err := NewServer(token, Observed{Controller: func() (int, error) { return pid, nil }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	o := &Observation{peer: NewPeer(At{Pod: "a", URL: server.URL, Client: server.Client(), Token: token}, newRunLog().Log)}

	if err := o.Signal(pid, 0); err != nil {
		t.Error(err)
	}
	if err := o.Signal(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if status := awaitChange(t, pid, syscall.WUNTRACED); !status.Stopped() {
		t.Errorf("after SIGSTOP: %v", status)
	}
	s.End()
	if status := awaitChange(t, pid, syscall.WCONTINUED); !status.Continued() {
		t.Errorf("after the end of the agent: %v", status)
	}
	if err := o.Signal(pid, syscall.SIGHUP); err == nil || !strings.Contains(err.Error(), "no fault sends it") {
		t.Errorf("SIGHUP: %v", err)
	}
	if err := o.Signal(os.Getpid(), syscall.SIGTERM); err == nil || !strings.Contains(err.Error(), "neither the controller nor nginx") {
		t.Errorf("a process that it does not observe: %v", err)
	}
	if err := o.Signal(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	sleeper.Wait()
	if err := o.Signal(pid, syscall.SIGKILL); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("a process that has ended: %v", err)
	}
}
