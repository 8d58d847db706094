package trial

import (
	"context"
	"fmt"
	"path/filepath"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/scenario"
)

// Plan returns a trial of each scenario, and with controls also one of its control. Their
// folders are in out. like has the fields that all trials share. It is an error if two trials would
// have the same folder.
func Plan(all []*scenario.Scenario, controls bool, out string, like Trial) ([]Trial, error) {
	var trials []Trial
	for _, s := range all {
		t := like
		t.Scenario, t.Seed, t.Dir = s, s.Seed, filepath.Join(out, s.Name)
		trials = append(trials, t)
		if s.Control != nil && controls {
			t.Control, t.Dir = true, filepath.Join(out, s.Name+"-control")
			trials = append(trials, t)
		}
	}
	files := map[string]string{}
	for _, t := range trials {
		if before, taken := files[t.Dir]; taken {
			return nil, fmt.Errorf("the runs of %s and %s would have the same folder, %s: give one of the scenarios another metadata.name", before, t.Scenario.File, t.Dir)
		}
		files[t.Dir] = t.Scenario.File
	}
	return trials, nil
}

// Each makes trials one after another, and calls begin before each. When ctx is done, it
// returns those that ended and leaves out the others. The outcome is that of all together.
func Each(ctx context.Context, trials []Trial, begin func(i int)) ([]Result, judge.Outcome) {
	var all []Result
	var outcomes []judge.Outcome
	for i, t := range trials {
		begin(i)
		ended := Do(ctx, t)
		all, outcomes = append(all, ended), append(outcomes, ended.Outcome)
		if ctx.Err() != nil {
			return all, judge.Interrupted
		}
	}
	return all, judge.Worst(outcomes...)
}
