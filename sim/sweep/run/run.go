// Package run makes the runs of a sweep that sim/sweep has planned, and keeps them in its folder. Its
// one rule: after each run, the folder records which runs are finished, so that an interrupted sweep
// can continue.
package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/sweep"
	"windtunnel.dev/sim/trial"
)

// Sweep is a sweep to be made.
type Sweep struct {
	Design  sweep.Design
	Planned []sweep.Planned // all combinations
	Figures []measure.Figure
	Drain   bool // the document gets drain curves
	Driver  driver.Driver
	Out     string // the folder of the sweep
	Resume  bool   // the folder may have runs already, which are kept
	Say     io.Writer
	Watch   trial.Watch
	// Trial makes a run; nil: trial.Do.
	Trial func(context.Context, trial.Trial) trial.Result
}

// Do makes all runs that the folder lacks, and returns the measurements. The rounds run the combinations
// alternately forwards and backwards, so that changes of the machine affect all of them alike; those of
// a fraction are in random order.
//
// The outcome is Passed if all runs are finished, whether or not their expectations hold. It is Void if
// a run stayed void; the others are made nevertheless. If it is NotRun, Skipped or Interrupted, the error
// says why, and the document has the finished runs.
func (s Sweep) Do(ctx context.Context) (sweep.Document, judge.Outcome, error) {
	doc, err := s.begin()
	if err != nil {
		return doc, judge.NotRun, err
	}
	if s.Trial == nil {
		s.Trial = trial.Do
	}
	outcome, err := s.all(ctx, &doc)
	doc.Interrupted = len(doc.Runs) < len(s.Planned)*s.Design.Rounds
	doc.Evaluate()
	return doc, outcome, errors.Join(err, save(s.Out, doc))
}

// all makes the runs that the document lacks.
func (s Sweep) all(ctx context.Context, doc *sweep.Document) (judge.Outcome, error) {
	todo := s.missing(*doc)
	if kept := len(doc.Runs); kept > 0 {
		fmt.Fprintf(s.Say, "%s kept, %s to run\n", plural.Of(kept, "finished run"), plural.Of(len(todo), "run"))
	}
	clock := estimate{}
	for i, t := range todo {
		fmt.Fprintln(s.Say, s.heading(t)+clock.left(todo[i:]))
		began := time.Now()
		run, outcome, err := s.one(ctx, t, doc)
		took := time.Since(began)
		switch {
		case ctx.Err() != nil:
			return judge.Interrupted, context.Cause(ctx)
		case err != nil:
			return outcome, fmt.Errorf("combination %d (%s): %w", t.Number, t.Combination, err)
		}
		clock.made(t, took)
		run.Took = took
		doc.Runs = append(doc.Runs, run)
		if err := save(s.Out, *doc); err != nil {
			return judge.NotRun, err
		}
	}
	for _, run := range doc.Runs {
		if run.Outcome == judge.Void {
			return judge.Void, nil
		}
	}
	return judge.Passed, nil
}

// heading returns the message that a run begins.
func (s Sweep) heading(t task) string {
	round := ""
	if s.Design.Rounds > 1 {
		round = fmt.Sprintf(", round %d of %d", t.round, s.Design.Rounds)
	}
	return fmt.Sprintf("combination %d of %d (%s)%s", t.Number, len(s.Planned), t.Combination, round)
}

// one makes a run, and repeats it while it is void.
func (s Sweep) one(ctx context.Context, t task, doc *sweep.Document) (sweep.Run, judge.Outcome, error) {
	made := sweep.Run{Combination: t.Combination, Round: t.round, Dir: s.dir(t)}
	dir := filepath.Join(s.Out, made.Dir)
	if err := os.RemoveAll(dir); err != nil { // files of an interrupted sweep
		return made, judge.NotRun, err
	}
	var ended trial.Result
	outcome, err := trial.UntilValid(dir, filepath.Join(s.Out, "void", fmt.Sprintf("%03d-%d-%d", t.Number, t.round, time.Now().Unix())), s.Say, func() (judge.Outcome, error) {
		ended = s.Trial(ctx, trial.Trial{
			Scenario: t.Scenario, Rewritten: true, Seed: s.Design.Seed, Driver: s.Driver, Dir: dir, Watch: s.Watch,
		})
		if ended.Outcome == judge.NotRun || ended.Outcome == judge.Skipped {
			return ended.Outcome, ended.Err
		}
		return ended.Outcome, nil
	})
	if err != nil || outcome == judge.Interrupted {
		return made, outcome, err
	}
	made.Outcome, made.Note = outcome, ended.Note()
	made.Subjects = sweep.ValuesOf(ended.Measured.Result, s.Figures, s.Drain)
	if doc.Started.IsZero() {
		doc.Started, doc.Environment = ended.Measured.Result.Run.Start, ended.Measured.Result.Run.Environment
	}
	doc.Ended = time.Now()
	return made, outcome, nil
}

// dir returns the folder of a run, relative to that of the sweep. With several rounds, each combination
// has a folder with its runs.
func (s Sweep) dir(t task) string {
	if s.Design.Rounds == 1 {
		return t.Folder()
	}
	return filepath.Join(t.Folder(), fmt.Sprintf("%02d", t.round))
}

// task is a run to be made.
type task struct {
	sweep.Planned
	round int
}

// missing returns the runs that a document lacks, in the order in which they are made.
func (s Sweep) missing(doc sweep.Document) []task {
	order := s.order()
	finished := map[string]bool{}
	for _, run := range doc.Runs {
		finished[run.Dir] = true
	}
	var all []task
	for round := 1; round <= s.Design.Rounds; round++ {
		for i := range order {
			if round%2 == 0 {
				i = len(order) - 1 - i
			}
			if t := (task{s.Planned[order[i]], round}); !finished[s.dir(t)] {
				all = append(all, t)
			}
		}
	}
	return all
}

// order returns the indices of the combinations in the order of the first round. For a fraction it is
// random, from the seed. Otherwise, a slow change of the machine would look like an effect of the first
// factor, which varies slowest.
func (s Sweep) order() []int {
	if s.Design.Fraction != nil {
		return rand.New(rand.NewPCG(s.Design.Seed, 0)).Perm(len(s.Planned))
	}
	order := make([]int, len(s.Planned))
	for i := range order {
		order[i] = i
	}
	return order
}

// result returns the path of a sweep's result.
func result(out string) string { return rundir.Dir(out).File(rundir.Result) }
