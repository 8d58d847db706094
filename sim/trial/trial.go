// Package trial runs a scenario and judges it: once, with its control, or in turns with two
// controllers. It stands between the commands and the run, the folder of the run and the
// judgement. Its one rule: every way to run a scenario goes through Do, so that all of them
// classify what went wrong in the same way.
package trial

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// Trial is one run of a scenario, to be made and judged.
type Trial struct {
	Scenario *scenario.Scenario
	// Control runs the scenario with the mutation of its control.
	Control bool
	// Kept is the scenario that the folder keeps; nil: the one that is run.
	Kept *scenario.Scenario
	// Rewritten says that the scenario is no longer what its file says.
	Rewritten bool
	Seed      uint64
	Driver    driver.Driver
	Dir       string
	// DiscardIfCut says that a run that was cut short is neither measured nor judged.
	DiscardIfCut bool
	Watch        Watch // nil: nobody watches
}

// Watch begins to watch the run of a scenario. see gets each event of its log, concurrently;
// end is called when the run is over.
type Watch func(s *scenario.Scenario) (see func(event.Event), end func())

// Result is the result of a trial.
type Result struct {
	Outcome judge.Outcome
	// Err is why the trial was skipped or could not be done; nil for other outcomes.
	Err error
	// Cut is why the run was cut short; nil if it was not. What was seen until then is
	// measured.
	Cut error
	// Dir is the folder of the run; empty if the trial was skipped or could not be done
	// before there was one.
	Dir      rundir.Dir
	Measured rundir.Measured // empty if the outcome is Skipped or NotRun
	note     string
}

// Note returns a one-line reason for the outcome.
func (e Result) Note() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	return e.note
}

// Do makes the run of a trial and judges it. It stops everything that it started before it
// returns.
func Do(ctx context.Context, t Trial) Result {
	s := t.Scenario
	if t.Control {
		if why := t.withoutControl(ctx); why != "" {
			return Result{Outcome: judge.Inapplicable, note: "the control does not apply: " + why}
		}
		s = s.Mutated()
		t.Rewritten = true
	}
	switch err := driver.Supports(t.Driver, s); {
	case errors.Is(err, fault.ErrNotHere):
		return Result{Outcome: judge.Skipped, Err: err}
	case err != nil:
		return Result{Outcome: judge.NotRun, Err: err}
	}
	if err := run.Check(s, t.Seed, t.Driver); err != nil {
		return Result{Outcome: judge.NotRun, Err: err}
	}
	kept := s
	if t.Kept != nil {
		kept = t.Kept
	}
	dir, err := rundir.Create(t.Dir, kept, t.Rewritten)
	if err != nil {
		return Result{Outcome: judge.NotRun, Err: err}
	}
	cut := t.run(ctx, s, dir)
	if cut != nil && ctx.Err() == nil && !dir.Started() {
		cut = errors.Join(cut, dir.Discard(kept))
	}
	switch {
	case errors.Is(cut, fault.ErrNotHere):
		return Result{Outcome: judge.Skipped, Err: cut, Dir: dir}
	case cut != nil && (t.DiscardIfCut || ctx.Err() == nil && !dir.Started()):
		return Result{Outcome: judge.NotRun, Err: cut, Dir: dir}
	}
	measured, err := dir.Measure(s)
	if err != nil {
		return Result{Outcome: judge.NotRun, Err: err, Cut: cut, Dir: dir}
	}
	ended := Result{Cut: cut, Dir: dir, Measured: measured}
	ended.Outcome, ended.note = t.outcome(ctx, measured, cut)
	return ended
}

// withoutControl returns why the control does not apply to a subject, or "" if it applies.
func (t Trial) withoutControl(ctx context.Context) string {
	control := t.Scenario.Control
	if control.NotApplicable != "" {
		return control.NotApplicable
	}
	reader, ok := t.Driver.(driver.FlagReader)
	if !ok {
		return ""
	}
	for _, s := range subject.Of(t.Scenario) {
		for _, flag := range slices.Sorted(maps.Keys(control.Flags)) {
			if reader.LacksFlag(ctx, s, flag) {
				return fmt.Sprintf("it sets the flag %s, which %s does not have", flag, s.Name)
			}
		}
	}
	return ""
}

// outcome judges a run that was measured, and returns a one-line reason.
func (t Trial) outcome(ctx context.Context, m rundir.Measured, cut error) (outcome judge.Outcome, note string) {
	switch {
	case t.Control:
		if outcome, note = judge.OfControl(t.Scenario.Control, m.Result, m.Checks); cut != nil {
			note += "; the run was cut short: " + cut.Error()
		}
	case cut != nil:
		outcome, note = judge.Failed, cut.Error()
	default:
		outcome, note = m.Outcome()
	}
	if ctx.Err() != nil {
		outcome = judge.Interrupted
	}
	return outcome, note
}

// run runs a scenario with its log in dir. The error is why the run was cut short.
func (t Trial) run(ctx context.Context, s *scenario.Scenario, dir rundir.Dir) (err error) {
	file, err := os.Create(dir.File(rundir.Events))
	if err != nil {
		return err
	}
	defer file.Close()
	start := time.Now()
	log := event.NewLog(file, start)
	defer func() {
		if failed := log.Close(); !errors.Is(err, failed) { // the run may have ended because of it
			err = errors.Join(err, failed)
		}
	}()
	if t.Watch != nil {
		see, end := t.Watch(s)
		log.Tap(see)
		defer end()
	}
	return run.Do(ctx, run.Options{
		Scenario: s, Seed: t.Seed, Driver: t.Driver, Dir: string(dir),
		Log: log, Start: start, Environment: doctor.Environment(),
	})
}
