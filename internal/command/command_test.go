package command

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// patience bounds the wait for a command that would otherwise hang.
const patience = 20 * time.Second

func within(t *testing.T, what func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); what() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("the command does not return")
	}
}

func TestOutputAndExitCode(t *testing.T) {
	out, err := New(t.Context(), "sh", "-c", "echo answer; exit 3").Output()
	if exit := new(exec.ExitError); string(out) != "answer\n" || !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestWaitIgnoresChildrenThatHoldTheOutput(t *testing.T) {
	within(t, func() {
		cmd := New(t.Context(), "sh", "-c", "sleep 1000 & echo $!")
		out, err := cmd.Output()
		if !errors.Is(err, exec.ErrWaitDelay) {
			t.Errorf("got %q, %v", out, err)
		}
		_ = exec.Command("kill", strings.TrimSpace(string(out))).Run()
	})
}

func TestContextKillsTheGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	within(t, func() {
		cmd := New(ctx, "sh", "-c", "trap '' TERM; sleep 1000 & echo $!; wait")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 20)
		n, err := out.Read(buf)
		if err != nil {
			t.Error(err)
		}
		cancel()
		if _, err := out.Read(buf); err == nil { // EOF: the child, which holds the pipe, has ended
			t.Error("the output is still open")
		}
		if err := cmd.Wait(); err == nil {
			t.Errorf("it succeeded, with child %s", buf[:n])
		}
	})
}
