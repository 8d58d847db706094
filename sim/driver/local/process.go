package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// start begins a command in a process group of its own, so that a Ctrl-C on
// the terminal reaches us alone and we end our subjects in order. Should we be
// killed, the kernel asks the command to end.
func start(command *exec.Cmd) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return command.Start()
}

// process is a controller that was started.
type process struct {
	place   *place
	command *exec.Cmd
}

func (c *process) PID() int        { return c.command.Process.Pid }
func (c *process) Command() string { return c.command.Path }
func (c *process) Wait() error     { return c.command.Wait() }

// Terminate notes which nginx must be gone with the controller: its PID file
// may go before it does.
func (c *process) Terminate() error {
	if master, unborn := c.place.Master(); unborn == nil {
		c.place.master = master
	}
	return unlessDone(c.command.Process.Signal(syscall.SIGTERM))
}

func (c *process) Kill() error { return unlessDone(c.command.Process.Kill()) }

func unlessDone(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// endMaster makes sure that an nginx master is gone: TERM, then KILL of its
// process group, which nginx's master leads.
func endMaster(pid int) error {
	for _, sig := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(-pid, sig); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		if sig != 0 && waitGone(pid, 2*time.Second) {
			return nil
		}
	}
	return fmt.Errorf("nginx master %d is still there after SIGKILL", pid)
}

// killMaster ends an nginx master and its workers without a word, as the end of
// their container does.
func killMaster(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
		return nil
	} else if err != nil {
		return fmt.Errorf("killing nginx master %d: %w", pid, err)
	}
	if !waitGone(pid, 2*time.Second) {
		return fmt.Errorf("nginx master %d is still there after SIGKILL", pid)
	}
	return nil
}

func waitGone(pgid int, patience time.Duration) bool {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if errors.Is(syscall.Kill(-pgid, 0), syscall.ESRCH) {
			return true
		}
	}
	return false
}
