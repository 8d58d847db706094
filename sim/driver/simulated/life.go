package simulated

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"windtunnel.dev/sim/subject"
)

// life is one process of the controller, from its start to its end.
type life struct {
	controller Controller
	died       chan struct{}
	err        error // how it ended; set before died is closed
	tail       subject.Tail
	refusal    refusal
}

// newLife starts the controller and follows its log.
func (i *Instance) newLife(ctx context.Context) (*life, error) {
	logFile, err := os.OpenFile(filepath.Join(i.Room.Dir, "controller.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := &life{died: make(chan struct{})}
	output, input := io.Pipe()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		defer logFile.Close()
		subject.FollowLog(output, io.MultiWriter(logFile, &l.tail, &l.refusal), i.Room.Log, i.Subject.Name)
	}()
	if l.controller, err = i.place.Start(ctx, input); err != nil {
		input.Close()
		<-followed
		return nil, err
	}
	go func() {
		err := l.controller.Wait()
		input.Close()
		<-followed
		l.err = fmt.Errorf("the controller of subject %s: %s", i.Subject.Name, l.ended(err))
		close(l.died)
	}()
	return l, nil
}

// ended returns a line that describes how the controller ended.
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
