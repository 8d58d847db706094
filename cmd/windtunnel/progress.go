package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
	"windtunnel.dev/sim/watch"
)

// progressFlags contains the flags of commands that show the progress of runs.
type progressFlags struct{ quiet bool }

func (f *progressFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.quiet, "quiet", false, "show the progress in plain lines even on a terminal; always so where $CI is set")
}

// show returns a watch that shows the progress of each run on out.
func (f progressFlags) show(out io.Writer) trial.Watch {
	return func(s *scenario.Scenario) (see func(event.Event), end func()) {
		return f.showRun(watch.Of(s), out)(s)
	}
}

// showRun returns a watch that shows the progress of one run on out: on a terminal in a table, elsewhere
// in lines.
func (f progressFlags) showRun(run *watch.Run, out io.Writer) trial.Watch {
	return func(*scenario.Scenario) (see func(event.Event), end func()) {
		var hide func()
		if f.plain(out) {
			hide = showLines(run, out)
		} else {
			hide = showTable(run, out)
		}
		return run.See, func() { hide(); run.End() }
	}
}

// plain reports whether out gets lines instead of a table. CI systems set the variable CI.
func (f progressFlags) plain(out io.Writer) bool {
	file, ok := out.(*os.File)
	ci := os.Getenv("CI")
	return f.quiet || ci != "" && ci != "false" || os.Getenv("TERM") == "dumb" || !ok || !term.IsTerminal(int(file.Fd()))
}

// linePeriod is the time between two progress lines.
const linePeriod = 5 * time.Second

// showLines prints a progress line every linePeriod until end is called.
func showLines(run *watch.Run, out io.Writer) (end func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(linePeriod)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				fmt.Fprintln(out, progressLine(run.Status()))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// progressLine describes in a line what a run does, what it waits for, and the counts of the
// subject whose turn it is.
func progressLine(s watch.Status) string {
	took := s.Took.Truncate(time.Second)
	if s.Turn == 0 || s.Stage == watch.Stopping || s.Stage == watch.Measuring {
		return fmt.Sprintf("%s, %v: %s", s.Stage, took, s.Waits)
	}
	bar := ""
	if s.Stage == watch.Changing {
		bar = " " + progressBar(s)
	}
	line := fmt.Sprintf("turn %d/%d %s: %s%s %v: %s", s.Turn, s.Turns, s.Subject, s.Stage, bar, took, s.Waits)
	for _, one := range s.Subjects {
		if one.Name == s.Subject {
			line += fmt.Sprintf("  changes %d  reloads %d  requests %d  failed %d", one.Changes, one.Reloads, one.Requests, one.Failed)
		}
	}
	return line
}

// progressBar shows the elapsed share of a stage.
func progressBar(s watch.Status) string {
	const width = 20
	full := int(min(float64(s.Took)/float64(max(s.Of, 1)), 1) * width)
	return strings.Repeat("#", full) + strings.Repeat(".", width-full)
}
