package hunt

import (
	"context"
	"slices"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

// ignoreSettings tries the mutants that ignore a setting. Such a mutant affects only the cases that
// set it, so one run of the cases tries many mutants: each case lacks another setting.
func (h *hunt) ignoreSettings(ctx context.Context) error {
	todo := map[string][]mutate.Mutant{} // by case
	killed := map[string]*mutate.Result{}
	var left []mutate.Mutant
	for _, m := range h.Mutants {
		if _, known := h.result(m); known || m.Kind == mutate.Template || m.Kind == mutate.Lua {
			continue
		}
		left = append(left, m)
		killed[m.Name] = &mutate.Result{Mutant: m, Outcome: mutate.Unreached}
		for _, name := range h.reaching(m) {
			todo[name] = append(todo[name], m)
			killed[m.Name].Outcome = mutate.Survived
			killed[m.Name].Reached++
		}
	}
	for round := 0; ctx.Err() == nil; round++ {
		lacks := map[string]mutate.Mutant{}
		var cases []*behave.Case
		for _, name := range h.able {
			if round < len(todo[name]) {
				lacks[name] = todo[name][round]
				cases = append(cases, mutate.Without(h.cases[name], lacks[name]))
			}
		}
		if len(cases) == 0 {
			break
		}
		h.Log("running %d cases without one of their settings each (round %d)", len(cases), round+1)
		results, err := h.runWithout(ctx, cases)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, result := range results {
			r := killed[lacks[result.Case].Name]
			if result.Outcome == behave.Void && ctx.Err() != nil {
				continue
			}
			r.Ran++
			if v := judge([]behave.Result{result}); result.Outcome != behave.Void && v.outcome == mutate.Killed {
				r.Outcome, r.By = mutate.Killed, append(r.By, result.Case)
				if r.Why == "" {
					r.Why = v.why
				}
			}
		}
	}
	for _, m := range left { // kills count even if the time ran out
		if r := killed[m.Name]; r.Ran == r.Reached || r.Outcome == mutate.Killed {
			h.settle(*r)
		}
	}
	return nil
}

// runWithout runs cases that lack settings. Failures of cases that depend on time count only if
// they are repeated.
func (h *hunt) runWithout(ctx context.Context, cases []*behave.Case) ([]behave.Result, error) {
	o := h.Run
	o.Cases, o.Installations, o.Patience, o.Done = cases, h.Workers, patience, nil
	results, _, err := h.run(ctx, o, h.Template, h.Lua)
	if err != nil {
		return results, err
	}
	o.Cases = nil
	for i, r := range results {
		if r.Outcome.Bad() && hasty(cases[i]) {
			o.Cases = append(o.Cases, cases[i])
		}
	}
	if len(o.Cases) == 0 {
		return results, nil
	}
	again, _, err := h.run(ctx, o, h.Template, h.Lua)
	for _, r := range again {
		i := slices.IndexFunc(results, func(first behave.Result) bool { return first.Case == r.Case })
		results[i] = r
	}
	return results, err
}
