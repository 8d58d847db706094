package main

import (
	"fmt"
	"io"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave"
	casereport "windtunnel.dev/sim/behave/report"
)

// caseProgressEvery is the time between two progress lines if the output is not a terminal.
const caseProgressEvery = 5 * time.Second

// caseProgress shows how many cases are done. It updates a single line or, if it is plain, prints a line
// every few seconds.
type caseProgress struct {
	out      io.Writer
	plain    bool
	all      int
	counts   casereport.Counts
	finished int
	shown    time.Time
}

func showCaseProgress(out io.Writer, all int, plain bool) *caseProgress {
	p := &caseProgress{out: out, plain: plain, all: all, counts: casereport.Counts{}, shown: time.Now()}
	p.show()
	return p
}

// done counts a case, and calls print while the progress line is cleared. It must not be called by
// several goroutines at a time.
func (p *caseProgress) done(r behave.Result, print func()) {
	p.counts[r.Outcome]++
	p.finished++
	p.clear()
	print()
	p.show()
}

func (p *caseProgress) show() {
	line := fmt.Sprintf("%d of %s", p.finished, plural.Of(p.all, "case"))
	if p.finished > 0 {
		line += ": " + p.counts.String()
	}
	switch {
	case !p.plain:
		fmt.Fprint(p.out, line)
	case time.Since(p.shown) > caseProgressEvery:
		p.shown = time.Now()
		fmt.Fprintln(p.out, line)
	}
}

func (p *caseProgress) clear() {
	if !p.plain {
		fmt.Fprint(p.out, "\r\033[K")
	}
}

func (p *caseProgress) end() { p.clear() }
