package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
	"windtunnel.dev/sim/watch"
)

// progress shows the progress of a run. On a terminal it updates a single line; elsewhere it prints
// a line every few seconds.
type progress struct {
	out      io.Writer
	terminal bool
	run      *watch.Run

	stop    chan struct{}
	stopped chan struct{}
}

// showProgress returns a watch that shows the progress of each run on out.
func showProgress(out io.Writer) trial.Watch {
	return func(s *scenario.Scenario) (see func(event.Event), end func()) {
		return watchRun(watch.Of(s), out)(s)
	}
}

// watchRun returns a watch that shows the progress of one run on out.
func watchRun(run *watch.Run, out io.Writer) trial.Watch {
	return func(*scenario.Scenario) (see func(event.Event), end func()) {
		hide := showRun(run, out)
		return run.See, func() { hide(); run.End() }
	}
}

// showRun shows the progress of a run on out until it is over, which end says.
func showRun(run *watch.Run, out io.Writer) (end func()) {
	p := &progress{out: out, run: run, stop: make(chan struct{}), stopped: make(chan struct{})}
	every := 5 * time.Second
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.terminal, every = true, 100*time.Millisecond
	}
	go p.keepShowing(every)
	return p.end
}

func (p *progress) keepShowing(every time.Duration) {
	defer close(p.stopped)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-ticker.C:
			p.show()
		}
	}
}

func (p *progress) end() {
	close(p.stop)
	<-p.stopped
	if p.terminal {
		fmt.Fprint(p.out, "\r\033[K")
	}
}

func (p *progress) show() {
	line := progressLine(p.run.Status())
	if p.terminal {
		fmt.Fprint(p.out, "\r\033[K"+line)
	} else {
		fmt.Fprintln(p.out, line)
	}
}

// progressLine says in a line what a run does, what it waits for, and what was seen of the subject whose
// turn it is.
func progressLine(s watch.Status) string {
	took := s.Took.Truncate(time.Second)
	if s.Turn == 0 || s.Stage == watch.Stopping || s.Stage == watch.Measuring {
		return fmt.Sprintf("%s, %v: %s", s.Stage, took, s.Waits)
	}
	bar := ""
	if s.Stage == watch.Changing {
		const width = 20
		full := int(min(float64(s.Took)/float64(max(s.Of, 1)), 1) * width)
		bar = " " + strings.Repeat("#", full) + strings.Repeat(".", width-full)
	}
	line := fmt.Sprintf("turn %d/%d %s: %s%s %v: %s", s.Turn, s.Turns, s.Subject, s.Stage, bar, took, s.Waits)
	for _, one := range s.Subjects {
		if one.Name == s.Subject {
			line += fmt.Sprintf("  changes %d  reloads %d  requests %d  failed %d", one.Changes, one.Reloads, one.Requests, one.Failed)
		}
	}
	return line
}
