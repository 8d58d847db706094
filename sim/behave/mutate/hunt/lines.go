package hunt

import (
	"context"
	"slices"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

const (
	// firstTries is how many cases are run first under a mutant: those that are most likely to fail.
	firstTries = 6
	// laterTries is how many are run if none of them fails.
	laterTries = 24
	// together is how many mutants that survived so far are tried at once.
	together = 24
)

// tryLines tries each mutant of a line with the cases that are most likely to notice it.
func (h *hunt) tryLines(ctx context.Context) error {
	var left []mutate.Mutant
	for _, m := range h.Mutants {
		if _, known := h.result(m); !known && (m.Kind == mutate.Template || m.Kind == mutate.Lua) {
			left = append(left, m)
		}
	}
	h.Log("trying %d mutants of lines", len(left))
	return parallel(ctx, h.Workers, left, h.tryLine)
}

func (h *hunt) tryLine(ctx context.Context, m mutate.Mutant) error {
	names := h.reaching(m)
	result := mutate.Result{Mutant: m, Outcome: mutate.Unreached, Reached: len(names)}
	if len(names) > 0 {
		order := h.order(m, names)
		for _, size := range []int{firstTries, laterTries} {
			var chosen []string
			chosen, order = h.choose(order, size)
			if len(chosen) == 0 {
				break
			}
			v, err := h.try(ctx, []mutate.Mutant{m}, chosen)
			if err != nil {
				return err
			}
			result.Outcome, result.By, result.Why = v.outcome, v.by, v.why
			result.Ran += len(chosen)
			if v.outcome != mutate.Survived {
				break
			}
		}
	}
	if ctx.Err() == nil {
		h.settle(result)
	}
	return nil
}

// order returns the cases with the most likely killers of a mutant first: those that killed mutants
// of the lines around it, then those whose text resembles the line.
func (h *hunt) order(m mutate.Mutant, names []string) []string {
	const near, most = 4, 3
	var first []string
	h.mu.Lock()
	for distance := range near {
		for _, k := range h.killers {
			if k.file == m.File && (k.line == m.Line-distance || k.line == m.Line+distance) && !slices.Contains(first, k.name) && slices.Contains(names, k.name) && len(first) < most {
				first = append(first, k.name)
			}
		}
	}
	h.mu.Unlock()
	files := h.Template
	if m.Kind == mutate.Lua {
		files = h.Lua
	}
	ranked := h.ranker.Order(files, m, names)
	top := min(len(ranked), firstTries-len(first))
	likely := slices.Concat(ranked[:top], first, ranked[top:])
	var order []string
	seen := map[string]bool{}
	for _, name := range likely {
		if !seen[name] {
			seen[name] = true
			order = append(order, name)
		}
	}
	return order
}

// choose takes up to size cases from the head of a list that need few installations and batches,
// because these take longer than the cases themselves.
func (h *hunt) choose(order []string, size int) (chosen, rest []string) {
	var flags, configs []*behave.Case
	mostFlags, mostConfigs := max(size/4, 1), max(size/2, 1)
	for _, name := range order {
		c := h.cases[name]
		newFlags := !slices.ContainsFunc(flags, func(other *behave.Case) bool { return sameFlags(c, other) })
		newConfig := !slices.ContainsFunc(configs, func(other *behave.Case) bool { return sameFlags(c, other) && sameConfig(c, other) })
		if len(chosen) == size || newFlags && len(flags) == mostFlags || newConfig && len(configs) == mostConfigs {
			rest = append(rest, name)
			continue
		}
		chosen = append(chosen, name)
		if newFlags {
			flags = append(flags, c)
		}
		if newConfig {
			configs = append(configs, c)
		}
	}
	return chosen, rest
}
