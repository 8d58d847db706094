package simulated

import (
	"context"
	"fmt"
	"io"

	"windtunnel.dev/sim/subject"
)

// process is one process of the controller, from its start to its end.
type process struct {
	controller Controller
	died       chan struct{}
	err        error // how it ended; set before died is closed
	tail       subject.Tail
	refusal    refusal
}

// startProcess starts the controller and follows its log.
func (i *Instance) startProcess(ctx context.Context) (*process, error) {
	logFile, err := subject.OpenLog(i.Options.Dir, i.Options.Log, i.Subject.Name)
	if err != nil {
		return nil, err
	}
	p := &process{died: make(chan struct{})}
	output, input := io.Pipe()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		defer logFile.Close()
		subject.FollowLog(output, io.MultiWriter(&p.tail, &p.refusal, logFile), i.Options.Log, i.Subject.Name, i.setup.Read)
	}()
	if p.controller, err = i.runtime.Start(ctx, input); err != nil {
		input.Close()
		<-followed
		return nil, err
	}
	go func() {
		err := p.controller.Wait()
		input.Close()
		<-followed
		p.err = fmt.Errorf("the controller of subject %s: %s", i.Subject.Name, p.describeEnd(err))
		close(p.died)
	}()
	return p, nil
}

// describeEnd returns a line that describes how the controller ended.
func (p *process) describeEnd(err error) string {
	how := "ended"
	if err != nil {
		how = err.Error()
	}
	if last := p.tail.Last(); last != "" {
		how += ": " + last
	}
	return how
}
