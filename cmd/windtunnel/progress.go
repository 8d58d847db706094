package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// progress shows the progress of a run. On a terminal it updates a single line; elsewhere it prints
// a line every few seconds. All its data comes from the event log.
type progress struct {
	out      io.Writer
	terminal bool
	s        *scenario.Scenario
	turns    int           // of all subjects
	share    time.Duration // of the timeline in one turn

	mu       sync.Mutex
	turn     int
	subject  string
	ready    int
	stage    string
	begin    time.Time // of the stage
	changes  int
	requests int
	failed   int
	reloads  int
	seen     map[string]int // newest generation by subject

	stop    chan struct{}
	stopped chan struct{}
}

// showProgress returns a watch that shows the progress of each run on out.
func showProgress(out io.Writer) trial.Watch {
	return func(s *scenario.Scenario) (see func(event.Event), end func()) {
		p := newProgress(out, s)
		return p.observe, p.end
	}
}

func newProgress(out io.Writer, s *scenario.Scenario) *progress {
	p := &progress{
		out: out, s: s, turns: s.Rounds * len(s.Subjects), share: s.Length() / time.Duration(s.Rounds),
		stage: "starting", begin: time.Now(), seen: map[string]int{},
		stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	every := 5 * time.Second
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.terminal, every = true, 100*time.Millisecond
	}
	go p.keepShowing(every)
	return p
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

// observe updates the progress with an event of the log.
func (p *progress) observe(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Phase != nil:
		p.phase(e)
	case e.Change != nil:
		p.changes++
	case e.Request != nil:
		p.requests++
		if e.Request.Cause != "" && e.Request.Cause != event.OurCancel {
			p.failed++
		}
	case e.Worker != nil && e.Worker.Generation > p.seen[e.Subject]:
		if p.seen[e.Subject] > 0 && e.Subject == p.subject {
			p.reloads++
		}
		p.seen[e.Subject] = e.Worker.Generation
	}
}

func (p *progress) phase(e event.Event) {
	p.begin = time.Now()
	switch e.Phase.Name {
	case event.Ready:
		p.ready++
	case event.RoundBegin:
		p.turn++
		p.subject, p.stage = e.Subject, "changing"
		p.changes, p.requests, p.failed, p.reloads = 0, 0, 0, 0
	case event.ChurnEnd:
		p.stage = "settling"
	case event.RoundEnd:
		if p.turn == p.turns {
			p.stage = "stopping"
		}
	case event.Cut:
		p.stage = "stopping"
	}
}

func (p *progress) show() {
	p.mu.Lock()
	line := p.line()
	p.mu.Unlock()
	if p.terminal {
		fmt.Fprint(p.out, "\r\033[K"+line)
	} else {
		fmt.Fprintln(p.out, line)
	}
}

func (p *progress) line() string {
	took := time.Since(p.begin).Truncate(time.Second)
	switch p.stage {
	case "starting":
		return fmt.Sprintf("starting %s: %d ready, %v", plural.Of(len(p.s.Subjects), "subject"), p.ready, took)
	case "stopping":
		return fmt.Sprintf("stopping, %v", took)
	}
	bar, of := "", p.s.Settle
	if p.stage == "changing" {
		of = p.share
		const width = 20
		full := int(min(float64(took)/float64(max(of, 1)), 1) * width)
		bar = " " + strings.Repeat("#", full) + strings.Repeat(".", width-full)
	}
	return fmt.Sprintf("turn %d/%d %s: %s%s %v/%v  changes %d  reloads %d  requests %d  failed %d",
		p.turn, p.turns, p.subject, p.stage, bar, took, of, p.changes, p.reloads, p.requests, p.failed)
}
