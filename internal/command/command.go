// Package command makes commands that cannot keep us waiting. It stands between
// os/exec and who runs a program for its answer. Its one rule: when the context ends,
// or the program has ended, waiting for it ends too, whatever it has left behind.
package command

import (
	"context"
	"os/exec"
	"syscall"
	"time"
)

// outputDelay is how long what a program has left behind may hold its output open.
const outputDelay = time.Second

// New is exec.CommandContext with a bound on Wait: the program has a process group
// of its own, which is killed when ctx ends, and its output is not waited for longer
// than a second after its end (exec.ErrWaitDelay).
func New(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputDelay
	return cmd
}
