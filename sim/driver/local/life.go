package local

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"windtunnel.dev/sim/subject"
)

// life is a controller from its start to its end.
type life struct {
	command *exec.Cmd
	died    chan struct{}
	err     error // how it ended; set before died is closed
	tail    tail
}

// newLife starts the controller, and follows what it writes.
func (i *instance) newLife() (*life, error) {
	logFile, err := os.OpenFile(filepath.Join(i.room.Dir, "controller.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := &life{command: i.controllerCommand(), died: make(chan struct{})}
	output, input := io.Pipe()
	l.command.Stdout, l.command.Stderr = input, input
	if err := start(l.command); err != nil {
		logFile.Close()
		return nil, err
	}
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		defer logFile.Close()
		subject.FollowLog(output, io.MultiWriter(logFile, &l.tail), i.room.Log, i.subject.Name)
	}()
	go func() {
		err := l.command.Wait()
		input.Close()
		<-followed
		l.err = fmt.Errorf("the controller of subject %s: %s", i.subject.Name, l.ended(err))
		close(l.died)
	}()
	return l, nil
}

// ended says in one line how the controller ended.
func (l *life) ended(err error) string {
	how := "ended"
	if err != nil {
		how = err.Error()
	}
	if last := l.tail.Last(); last != "" {
		how += ": " + last
	}
	return how
}
