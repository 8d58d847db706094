package hunt

import (
	"context"
	"slices"

	"windtunnel.dev/sim/behave/mutate"
)

// mostForIdle is how many mutants are tried with a case that has killed none.
const mostForIdle = 12

// wakeIdle looks for a mutant that is killed by each case that has killed none: other cases may have
// killed the mutants that it would have killed.
func (h *hunt) wakeIdle(ctx context.Context) error {
	idle := h.outcome().Idle
	h.Log("looking for mutants that %d cases kill", len(idle))
	return parallel(ctx, h.Workers, idle, func(ctx context.Context, name string) error {
		for _, m := range h.candidates(name) {
			v, err := h.try(ctx, []mutate.Mutant{m}, []string{name})
			if err != nil || ctx.Err() != nil {
				return err
			}
			if v.outcome == mutate.Killed {
				r, _ := h.result(m)
				r.Outcome, r.By, r.Ran = mutate.Killed, append(slices.Clone(r.By), name), r.Ran+1
				if r.Why == "" {
					r.Why = v.why
				}
				h.settle(r)
				return nil
			}
		}
		return nil
	})
}

// candidates returns mutants that a case may kill: those that reach few cases, it among them, first.
func (h *hunt) candidates(name string) []mutate.Mutant {
	var all []mutate.Mutant
	for _, m := range h.Mutants {
		r, ok := h.result(m)
		if ok && m.Kind == mutate.Template && r.Outcome == mutate.Killed && slices.Contains(h.reaching(m), name) {
			all = append(all, m)
		}
	}
	similar := h.ranker.Similar(h.Template, all, name)
	return similar[:min(len(similar), mostForIdle)]
}
