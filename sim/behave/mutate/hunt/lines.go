package hunt

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

const (
	// firstTries is how many cases are run first under a mutant: those that are most likely to fail.
	firstTries = 16
	// laterTries is the number of cases that are run alone under a mutant after they failed under
	// several mutants together. It is also the number of cases that are run first if almost all
	// cases execute the line.
	laterTries = 24
	// firstConfigs and laterConfigs limit the number of configurations of these cases. A
	// configuration takes longer than its cases.
	firstConfigs = 4
	laterConfigs = laterTries / 2
	// sure is the number of failed cases after which no more cases are run under a mutant.
	sure = 2
	// together is the number of surviving mutants that are tried at once.
	together = 48
	// enough is the number of cases that must fail under several mutants before the hunt looks for
	// the mutants at fault. Under some mutants nothing is served, and each case would wait in vain.
	enough = 30
	// few is the number of these cases that must fail under a part of the mutants before the part
	// is divided.
	few = 4
	// lotSize is the number of mutants in a lot.
	lotSize = 10
)

// lot is a set of mutants that are tried at once, each with cases that reach none of the others.
type lot struct {
	mutants []mutate.Mutant
	cases   map[string][]string // by the name of the mutant
}

func (l lot) all() (names []string) {
	for _, m := range l.mutants {
		names = append(names, l.cases[m.Name]...)
	}
	return names
}

// tryLines tries each mutant of a line with the cases that are most likely to notice it.
func (h *hunt) tryLines(ctx context.Context) error {
	var left []mutate.Mutant
	for _, m := range h.Mutants {
		if _, known := h.result(m); known || m.Kind != mutate.Template && m.Kind != mutate.Lua {
			continue
		}
		if len(h.reaching(m)) == 0 {
			h.settle(mutate.Result{Mutant: m, Outcome: mutate.Unreached})
			continue
		}
		left = append(left, m)
	}
	h.Log("trying %d mutants of lines", len(left))
	next := func() (lot, bool) {
		h.taking.Lock()
		defer h.taking.Unlock()
		var l lot
		l, left = h.lot(left)
		return l, len(l.mutants) > 0
	}
	return parallel(ctx, h.Workers, make([]struct{}, h.Workers), func(ctx context.Context, _ struct{}) error {
		for ctx.Err() == nil {
			l, ok := next()
			if !ok {
				return nil
			}
			if err := h.tryLot(ctx, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// lot takes a lot from the head of a list of mutants.
func (h *hunt) lot(mutants []mutate.Mutant) (l lot, rest []mutate.Mutant) {
	l.cases = map[string][]string{}
	reached, chosen := map[string]bool{}, map[string]bool{} // cases that reach the mutants of the lot; cases chosen for them
	for i, m := range mutants {
		if len(l.mutants) == lotSize || len(l.mutants) > 0 && m.Kind != l.mutants[0].Kind {
			return l, append(rest, mutants[i:]...)
		}
		names := h.reaching(m)
		var own []string
		for _, name := range names {
			if !reached[name] && (len(l.mutants) == 0 || sameFlags(h.cases[name], h.cases[l.cases[l.mutants[0].Name][0]])) {
				own = append(own, name)
			}
		}
		clash := len(l.mutants) > 0 && (len(own) < min(firstTries, len(names)) || slices.ContainsFunc(names, func(name string) bool { return chosen[name] }))
		if clash {
			rest = append(rest, m)
			continue
		}
		l.mutants = append(l.mutants, m)
		l.cases[m.Name] = h.first(m, own)
		for _, name := range names {
			reached[name] = true
		}
		for _, name := range l.cases[m.Name] {
			chosen[name] = true
		}
	}
	return l, rest
}

// tryLot tries the mutants of a lot. It tries each alone if nginx rejects them together, and those
// whose failures a busy machine can cause.
func (h *hunt) tryLot(ctx context.Context, l lot) error {
	enough := 0
	if len(l.mutants) == 1 {
		enough = sure
	}
	v, err := h.try(ctx, l.mutants, l.all(), enough)
	if err != nil || ctx.Err() != nil {
		return err
	}
	for _, m := range l.mutants {
		by := among(v.by, l.cases[m.Name])
		if len(l.mutants) > 1 && (v.outcome == mutate.Stillborn || v.void || h.doubtful(by)) {
			if err := h.tryLot(ctx, lot{[]mutate.Mutant{m}, map[string][]string{m.Name: l.cases[m.Name]}}); err != nil {
				return err
			}
			continue
		}
		r := mutate.Result{Mutant: m, Outcome: v.outcome, Why: v.why, Ran: len(l.cases[m.Name]), Reached: len(h.reaching(m))}
		if v.outcome == mutate.Killed {
			r.By = by
			r.Why = ""
			if len(r.By) > 0 {
				r.Why = v.reasons[r.By[0]]
			} else {
				r.Outcome = mutate.Survived
			}
		}
		h.settle(r)
	}
	return nil
}

// included matches the file that a line of the template includes.
var included = regexp.MustCompile(`{{-? template "([^"]+\.tmpl)"`)

// nearest returns up to most cases that killed mutants close to this one: in the file that the
// mutant's line includes, in the lines around it, or else in its file. Killers of mutants that few
// cases noticed come first, because a mutant that many cases notice breaks more than its line.
func (h *hunt) nearest(m mutate.Mutant, names []string, most int) (cases []string) {
	const near, selective = 4, 3
	h.mu.Lock()
	defer h.mu.Unlock()
	file := ""
	if found := included.FindStringSubmatch(m.Was); found != nil {
		file = found[1]
	}
	closest := []func(k killer) bool{func(k killer) bool { return k.file == file }}
	for distance := range near {
		closest = append(closest, func(k killer) bool {
			return k.file == m.File && (k.line == m.Line-distance || k.line == m.Line+distance)
		})
	}
	if m.Kind == mutate.Lua {
		closest = append(closest, func(k killer) bool { return k.file == m.File })
	}
	for _, few := range []bool{true, false} {
		for _, fits := range closest {
			for _, k := range h.killers {
				if len(cases) < most && k.killers <= selective == few && fits(k) && !slices.Contains(cases, k.name) && slices.Contains(names, k.name) {
					cases = append(cases, k.name)
				}
			}
		}
	}
	return cases
}

// usersOf returns up to most cases that use a file: they execute lines of it that only some cases
// execute. Cases with the rarest lines come first. Lines that most cases execute, such as those of
// a worker's timers, do not count.
func (h *hunt) usersOf(file string, names []string, most int) []string {
	rarity := map[string]float64{} // by case
	for site, cases := range h.reach {
		if name, _, _ := strings.Cut(site, ":"); name == file && !h.wide(cases) {
			for _, name := range cases {
				rarity[name] += 1 / float64(len(cases))
			}
		}
	}
	users := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return rarity[name] == 0 })
	slices.SortStableFunc(users, func(a, b string) int { return cmp.Compare(rarity[b], rarity[a]) })
	return users[:min(most, len(users))]
}

// wide reports whether the cases that execute a line are more than half of all cases, as for the
// code of a worker's timers. Then the line says little about which cases may notice a mutant, and
// more cases run first.
func (h *hunt) wide(names []string) bool { return len(names) > len(h.able)/2 }

// first returns the cases to run first under a mutant.
func (h *hunt) first(m mutate.Mutant, names []string) []string {
	size := firstTries
	if h.wide(names) {
		size = laterTries
	}
	chosen, _ := h.choose(h.order(m, names), size, firstConfigs)
	return chosen
}

// order sorts the cases by how likely they are to kill a mutant: first those whose text resembles
// the line, then those that killed mutants near it. If almost all cases execute the line, those
// that killed mutants near it come first, together with those that use its file.
func (h *hunt) order(m mutate.Mutant, names []string) []string {
	const most = 3
	near := h.nearest(m, names, most)
	var users []string
	if h.wide(names) {
		near = h.nearest(m, names, 2*most)
		cut := min(most, len(near))
		users = slices.Concat(near[:cut], h.usersOf(m.File, names, laterTries/2), near[cut:])
	}
	files := h.Template
	if m.Kind == mutate.Lua {
		files = h.Lua
	}
	ranked := h.ranker.Order(files, m, names)
	if m.Kind == mutate.Lua && m.Change() == "always" { // those under which the condition does not hold first
		entering := h.enteringBranch(m)
		ranked = slices.Concat(without(ranked, entering), among(ranked, entering))
	}
	top := max(min(len(ranked), firstTries-len(near)), 0)
	likely := slices.Concat(users, ranked[:top], near, ranked[top:])
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

// choose takes up to size cases from the head of a list. They need at most mostConfigs
// configurations and half as many installations.
func (h *hunt) choose(order []string, size, mostConfigs int) (chosen, rest []string) {
	var flags, configs []*behave.Case
	mostFlags := max(mostConfigs/2, 1)
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
