// Package command wraps os/exec for callers that run a program for its output. Its
// one rule: Wait returns soon after the context or the program has ended, even if
// child processes keep the output open.
package command

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// outputDelay is how long child processes may keep the output open after the program ends.
const outputDelay = time.Second

// New returns the command of exec.CommandContext, with a bounded Wait. The program runs in its own
// process group, which is killed when ctx ends. Wait stops reading the output one second after the
// program ends, and returns exec.ErrWaitDelay.
func New(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputDelay
	return cmd
}
