package hunt

import (
	"context"
	"slices"

	"windtunnel.dev/sim/behave/mutate"
)

// tryTogether tries the surviving mutants with all further cases that reach them. Most of them
// survive these as well, so many mutants are tried at once. When cases fail, halves of the group
// show which mutants are at fault.
func (h *hunt) tryTogether(ctx context.Context) error {
	for _, kind := range []mutate.Kind{mutate.Template, mutate.Lua} {
		survivors := h.survivors(kind)
		h.Log("trying %d surviving mutants of kind %s with all cases", len(survivors), kind)
		for _, excused := range []bool{false, true} {
			left := slices.DeleteFunc(slices.Clone(survivors), func(m mutate.Mutant) bool { return h.Excused(m) != excused })
			for len(left) > 0 && ctx.Err() == nil {
				var group []mutate.Mutant
				group, left = oneALine(left)
				if err := h.tryGroup(ctx, group, h.reachingAny(group)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// survivors returns the mutants of a kind that survived so far, but have not been tried with all
// cases that reach them.
func (h *hunt) survivors(kind mutate.Kind) []mutate.Mutant {
	var all []mutate.Mutant
	for _, m := range h.Mutants {
		if r, ok := h.result(m); ok && r.Outcome == mutate.Survived && m.Kind == kind && r.Ran < len(h.reaching(m)) {
			all = append(all, m)
		}
	}
	return all
}

// oneALine takes mutants from a list such that no two of them change the same line.
func oneALine(mutants []mutate.Mutant) (group, rest []mutate.Mutant) {
	for _, m := range mutants {
		if len(group) == together || slices.ContainsFunc(group, func(other mutate.Mutant) bool { return other.Position() == m.Position() }) {
			rest = append(rest, m)
		} else {
			group = append(group, m)
		}
	}
	return group, rest
}

// tryGroup tries mutants at once, with all cases that reach one of them. Cases that pass under all
// of them pass under each. When enough other cases have failed, the mutants at fault are removed
// from the group, and the cases that have not passed are run again. If no mutant at fault is found,
// each mutant is tried alone with the failed cases.
func (h *hunt) tryGroup(ctx context.Context, group []mutate.Mutant, left []string) error {
	all := group
	var unblamed []string // cases that fail only under several mutants, or by chance
	for len(group) > 0 && len(left) > 0 && ctx.Err() == nil {
		v, err := h.runs(ctx, group, left, patience, enough)
		if err != nil || ctx.Err() != nil {
			return err
		}
		if v.outcome == mutate.Stillborn && len(v.by) == 0 { // no controller started
			return h.tryHalves(ctx, group, append(left, unblamed...), v)
		}
		before := len(group)
		if group, err = h.blame(ctx, group, v.by); err != nil {
			return err
		}
		left = among(without(left, v.passed), h.reachingAny(group))
		if len(group) == before {
			left, unblamed = without(left, v.by), append(unblamed, v.by...)
		}
		h.Log("%d mutants and %d cases are left of a group", len(group), len(left))
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the time is over; earlier results are kept
	}
	return parallel(ctx, h.Workers, all, func(ctx context.Context, m mutate.Mutant) error {
		return h.tryAlone(ctx, m, among(unblamed, h.reaching(m)))
	})
}

// tryAlone settles a mutant that survived all cases except possibly the given ones.
func (h *hunt) tryAlone(ctx context.Context, m mutate.Mutant, names []string) error {
	r, _ := h.result(m)
	if r.Outcome != mutate.Survived {
		return nil
	}
	if len(names) > 0 {
		v, err := h.try(ctx, []mutate.Mutant{m}, names, sure)
		if err != nil || ctx.Err() != nil {
			return err
		}
		r.Outcome, r.By, r.Why = v.outcome, v.by, v.why
	}
	r.Ran = r.Reached
	h.settle(r)
	return nil
}

// tryHalves tries the halves of a group under which no controller starts.
func (h *hunt) tryHalves(ctx context.Context, group []mutate.Mutant, left []string, v verdict) error {
	if len(group) == 1 {
		r, _ := h.result(group[0])
		r.Outcome, r.Why = v.outcome, v.why
		h.settle(r)
		return nil
	}
	for _, half := range [][]mutate.Mutant{group[:len(group)/2], group[len(group)/2:]} {
		if err := h.tryGroup(ctx, half, among(left, h.reachingAny(half))); err != nil {
			return err
		}
	}
	return nil
}

// without returns the names that are not among others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// blame finds the mutants of a group that make cases fail, including those that make nginx reject
// its configuration, and returns the others.
func (h *hunt) blame(ctx context.Context, group []mutate.Mutant, failing []string) (rest []mutate.Mutant, err error) {
	for rest = group; ; {
		if err := h.narrow(ctx, rest, failing); err != nil {
			return nil, err
		}
		before := len(rest)
		rest = slices.DeleteFunc(slices.Clone(rest), func(m mutate.Mutant) bool {
			r, _ := h.result(m)
			return r.Outcome != mutate.Survived
		})
		failing = among(failing, h.reachingAny(rest))
		if len(rest) == before || len(failing) == 0 || ctx.Err() != nil {
			return rest, nil //nolint:nilerr // an interrupted hunt is not an error: the mutants that are left stay untried
		}
		v, err := h.runs(ctx, rest, failing, patience, few)
		if err != nil || v.outcome == mutate.Survived {
			return rest, err
		}
		if len(v.by) > 0 {
			failing = v.by
		}
	}
}

// narrow looks in each half of a group for mutants that make cases fail, and settles those that it
// finds.
func (h *hunt) narrow(ctx context.Context, suspects []mutate.Mutant, failing []string) error {
	if failing = among(failing, h.reachingAny(suspects)); len(failing) == 0 {
		return nil
	}
	if len(suspects) == 1 {
		return h.accuse(ctx, suspects[0], failing)
	}
	halves := [][]mutate.Mutant{suspects[:len(suspects)/2], suspects[len(suspects)/2:]}
	return parallel(ctx, len(halves), halves, func(ctx context.Context, half []mutate.Mutant) error {
		candidates := among(failing, h.reachingAny(half))
		if len(candidates) == 0 {
			return nil
		}
		if len(half) > 1 {
			v, err := h.runs(ctx, half, candidates, patience, few)
			if err != nil || ctx.Err() != nil || v.outcome == mutate.Survived {
				return err
			}
			if len(v.by) > 0 {
				candidates = v.by
			}
		}
		return h.narrow(ctx, half, candidates)
	})
}

// accuse tries a mutant alone with the cases that reach it and failed in its group. It settles the
// mutant if it does not survive.
func (h *hunt) accuse(ctx context.Context, m mutate.Mutant, failing []string) error {
	candidates, _ := h.choose(h.order(m, failing), laterTries, laterConfigs)
	v, err := h.try(ctx, []mutate.Mutant{m}, candidates, sure)
	if err != nil || ctx.Err() != nil || v.outcome == mutate.Survived {
		return err
	}
	r, _ := h.result(m)
	h.settle(mutate.Result{Mutant: m, Outcome: v.outcome, By: v.by, Why: v.why, Ran: r.Ran + len(candidates), Reached: r.Reached})
	return nil
}

// among returns the names that are among others.
func among(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(others, name) })
}

// reachingAny returns the cases that reach one of the mutants.
func (h *hunt) reachingAny(group []mutate.Mutant) []string {
	seen := map[string]bool{}
	for _, m := range group {
		for _, name := range h.reaching(m) {
			seen[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(h.able), func(name string) bool { return !seen[name] })
}
