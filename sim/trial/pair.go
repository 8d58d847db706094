package trial

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

// Pair is a scenario that is run with two sides in turns, to compare them.
type Pair struct {
	Scenario *scenario.Scenario
	Sides    [2]Side   // base and head
	Runs     int       // of each side
	Out      string    // folder of all runs
	Say      io.Writer // progress, in lines
	Watch    Watch
}

// Folder returns the folder of the runs of a side.
func (p Pair) Folder(side Side) string { return filepath.Join(p.Out, side.Name) }

// Do makes the runs of both sides in the order A B B A, so that changes of the machine
// affect both sides alike. Before that it starts head once. The outcome is Passed if all runs
// were made, whether or not their expectations hold: only their measurements are compared.
// It is Void if a run stayed void. If it is NotRun or Interrupted, the error says why.
func (p Pair) Do(ctx context.Context) (judge.Outcome, error) {
	head := p.Sides[1]
	if err := head.tryStart(ctx, p.Scenario, filepath.Join(p.Out, "try"), p.Say); err != nil {
		if ctx.Err() != nil {
			return judge.Interrupted, err
		}
		return judge.NotRun, fmt.Errorf("--%s: %w", head.Name, err)
	}
	for i := range 2 * p.Runs {
		turn, run := turnOf(i)
		side, number := p.Sides[turn], fmt.Sprintf("%02d", run)
		dir := filepath.Join(p.Folder(side), number)
		fmt.Fprintf(p.Say, "run %d of %d: %s\n", i+1, 2*p.Runs, side.Name)
		outcome, err := UntilValid(dir, filepath.Join(p.Out, "void", side.Name+"-"+number), p.Say, func() (judge.Outcome, error) {
			return p.runOne(ctx, side, dir)
		})
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(p.Say, "windtunnel: interrupted; %s\n", p.finished(i))
			return judge.Interrupted, context.Cause(ctx)
		case err != nil:
			return judge.NotRun, fmt.Errorf("%s: %w", dir, err)
		case outcome != judge.Passed:
			return outcome, nil
		}
	}
	return judge.Passed, nil
}

// finished says where the first runs of both sides are.
func (p Pair) finished(runs int) string {
	if runs == 0 {
		return "no run was finished"
	}
	return "the finished runs are in " + p.Out
}

// turnOf returns which side makes run i of both, from 0, and which of its runs that is, from
// 1: A B B A.
func turnOf(i int) (side, run int) { return [4]int{0, 1, 1, 0}[i%4], i/2 + 1 }

// runOne makes a run of a side. The folder keeps the original scenario, without the changes of the
// side.
func (p Pair) runOne(ctx context.Context, side Side, dir string) (judge.Outcome, error) {
	ended := Do(ctx, Trial{
		Scenario: side.In(p.Scenario), Kept: p.Scenario, Seed: p.Scenario.Seed,
		Driver: side.Driver, Dir: dir, DiscardIfCut: true, Watch: p.Watch,
	})
	switch ended.Outcome {
	case judge.Skipped, judge.NotRun:
		return judge.NotRun, ended.Err
	case judge.Failed, judge.Inapplicable:
		return judge.Passed, nil
	}
	return ended.Outcome, nil
}

// tries is the maximum number of attempts to get a run that is not void, so that a short load on
// the machine does not cost all other runs.
const tries = 3

// UntilValid makes a run in dir until it is not void, three times at most. Void runs are moved to the folders
// aside-1, aside-2 …, where no comparison reads them.
func UntilValid(dir, aside string, say io.Writer, run func() (judge.Outcome, error)) (judge.Outcome, error) {
	for try := 1; ; try++ {
		outcome, err := run()
		if err != nil || outcome != judge.Void {
			return outcome, err
		}
		if try == tries {
			fmt.Fprintf(say, "windtunnel: %s is still void after %d runs (%s says why): is the machine busy?\n", dir, tries, rundir.Dir(dir).File(rundir.Markdown))
			return outcome, nil
		}
		kept := fmt.Sprintf("%s-%d", aside, try)
		fmt.Fprintf(say, "%s is void and is repeated; the void run is kept in %s\n", dir, kept)
		if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
			return judge.NotRun, err
		}
		if err := os.Rename(dir, kept); err != nil {
			return judge.NotRun, err
		}
	}
}
