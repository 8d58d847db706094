package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"windtunnel.dev/sim/event"
)

// start begins a command in a process group of its own, so that a Ctrl-C on
// the terminal reaches us alone and we end our subjects in order. Should we be
// killed, the kernel asks the command to end.
func start(command *exec.Cmd) error {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	return command.Start()
}

// endProcesses asks the controller to end and waits for it within ctx; what
// is left then is killed, the nginx master included.
func (i *instance) endProcesses(ctx context.Context, l *life) error {
	master, unborn := i.Master()
	if err := l.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-l.died:
	case <-ctx.Done():
		i.room.Log.Write(event.Event{At: i.room.Log.Now(), Subject: i.subject.Name, Trouble: &event.Trouble{
			What: "the controller did not end in time and was killed",
		}})
		l.command.Process.Kill()
		<-l.died
	}
	if unborn == nil {
		return endMaster(master)
	}
	return nil
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
