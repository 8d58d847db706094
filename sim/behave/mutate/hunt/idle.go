package hunt

import (
	"context"
	"slices"

	"windtunnel.dev/sim/behave/mutate"
)

const (
	// candidates is the number of mutants that each idle case votes for.
	candidates = 8
	// mostVotes is the number of mutants that are tried with all idle cases.
	mostVotes = 40
)

// wakeIdle looks for mutants that idle cases kill. A case is idle if it has killed no mutant,
// perhaps only because other cases killed its mutants before it was run with them. Each idle case
// votes for the mutants whose lines are most similar to its text. The mutant with the most votes is
// tried with all idle cases that reach it.
func (h *hunt) wakeIdle(ctx context.Context) error {
	if !h.WakeIdle {
		return nil
	}
	tried := map[string]bool{}
	for range mostVotes {
		idle := h.outcome().Idle
		if len(idle) == 0 || ctx.Err() != nil {
			return nil //nolint:nilerr // the time is over; earlier results are kept
		}
		m, ok := h.elected(idle, tried)
		if !ok {
			return nil
		}
		tried[m.Name] = true
		reaching := h.reaching(m)
		names := slices.DeleteFunc(idle, func(name string) bool { return !slices.Contains(reaching, name) })
		h.Log("trying %s with %d cases that have killed no mutant yet", m.Name, len(names))
		v, err := h.try(ctx, []mutate.Mutant{m}, names, 0)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if v.outcome == mutate.Killed && !v.void {
			r, _ := h.result(m)
			r.By, r.Ran = append(slices.Clone(r.By), v.by...), r.Ran+len(names)
			h.settle(r)
		}
	}
	return nil
}

// elected returns the mutant with the most votes among those that were not tried.
func (h *hunt) elected(idle []string, tried map[string]bool) (most mutate.Mutant, ok bool) {
	votes := map[string]int{}
	killed := map[string][]mutate.Mutant{} // by the case that reaches it
	for _, m := range h.Mutants {
		r, known := h.result(m)
		if !known || m.Kind != mutate.Template || r.Outcome != mutate.Killed || tried[m.Name] {
			continue
		}
		for _, name := range h.reaching(m) {
			killed[name] = append(killed[name], m)
		}
	}
	for _, name := range idle {
		similar := h.ranker.Similar(h.Template, killed[name], name)
		for _, m := range similar[:min(len(similar), candidates)] {
			if votes[m.Name]++; votes[m.Name] > votes[most.Name] || !ok {
				most, ok = m, true
			}
		}
	}
	return most, ok
}
