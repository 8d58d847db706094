package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Process is a command that a guard has started.
type Process struct {
	guard   *Guard
	pid     int
	process *os.Process
	done    chan struct{}
	err     error // how it ended; valid after done is closed
}

// PID returns the PID of the command.
func (p *Process) PID() int { return p.pid }

// Signal sends a signal to the command only. If the command has ended, it returns nil.
func (p *Process) Signal(s os.Signal) error {
	if err := p.process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// Wait returns when no process of the command is left and its output is written. The error is nil
// for exit code 0, an Exit for another status, or reports that the guard has ended.
func (p *Process) Wait() error {
	<-p.done
	return p.err
}

// follow copies the output and waits for the end.
func (p *Process) follow(output *os.File, out io.Writer) {
	defer close(p.done)
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		defer output.Close()
		_, _ = io.Copy(out, output) // out reports its own errors
	}()
	var last reply
	_, err := receive(p.guard.harness, &last)
	switch {
	case err != nil:
		p.err = p.guard.lost(err) // the guard was killed or closed: Close cleans up
	case last.Status != 0:
		p.err = Exit(last.Status)
	}
	_ = output.SetReadDeadline(time.Now().Add(outputDelay)) // pipes support deadlines
	<-copied
}

// Exit is the status of a command that failed. Its text is the same as that of exec.ExitError.
type Exit syscall.WaitStatus

func (e Exit) Error() string {
	status := syscall.WaitStatus(e)
	if status.Signaled() {
		return fmt.Sprintf("signal: %v", status.Signal())
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
