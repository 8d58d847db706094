package run

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"windtunnel.dev/sim/behave"
)

// bound is how long a controller may take by default until its answers show a change.
const bound = 10 * time.Second

// trial is the live change of one annotation or ConfigMap key of a case.
type trial struct {
	*behave.LiveChange              // the findings
	of                 *behave.Case // the case as it is written
	full               *behave.Case // the same, up to its first change
	bare               *behave.Case // the same, without the annotation or key

	without  []behave.Failure // the expectations that fail before it is set for the first time
	failures []behave.Failure // why the trial failed
	took     time.Duration    // the trial
}

// direction says whether a trial's annotation or key is set, or removed.
type direction int

const (
	setting direction = iota
	removing
)

// attempt is the repetition of one direction of a trial.
type attempt struct {
	*trial
	direction direction
	lone      bool // no other attempt runs beside it
}

// live is a run of live changes.
type live struct {
	Options
	results results

	mu       sync.Mutex
	trials   map[*behave.Case]*trial   // by their bare case, which the first pass applies
	attempts map[*behave.Case]*attempt // by the case that the second pass applies
	open     map[*behave.Case]int      // how many trials or attempts of a case are not concluded
	changes  map[*behave.Case][]behave.LiveChange
}

// Live runs the cases as live changes. For each annotation and ConfigMap key that a case covers, it
// applies the case without it, sets it on the running controller, and removes it again. After it is
// set, the expectations of the case must hold within o.Bound. After it is removed, the same
// expectations must fail as before. Nothing else changes in between that could make the controller
// notice.
//
// A trial that fails is repeated: each direction with a new controller and without requests before
// the change, because requests of some cases change the answers to later ones. If a repetition
// fails as well, it is repeated once more, alone, because a reload with large rule sets may exceed
// the bound on a busy machine.
func Live(ctx context.Context, o Options) ([]behave.Result, error) {
	o.Bound = cmp.Or(o.Bound, bound)
	l := &live{
		Options: o, results: results{all: map[*behave.Case]behave.Result{}, done: o.Done},
		trials: map[*behave.Case]*trial{}, attempts: map[*behave.Case]*attempt{},
		open: map[*behave.Case]int{}, changes: map[*behave.Case][]behave.LiveChange{},
	}
	r := &runner{Options: o}
	var bare []*behave.Case
	for _, c := range o.Cases {
		bare = append(bare, l.plan(c, r.lacks(c))...)
	}
	r.perform, r.conclude = l.watch, l.watched
	err := r.runAll(ctx, grouped(bare, l.layout()))
	if err == nil {
		r.perform, r.conclude = l.repeat, l.repeated
		err = r.runAll(ctx, l.alone(false))
	}
	if err == nil {
		r.Installations = 1
		err = r.runAll(ctx, l.alone(true))
	}
	return l.results.of(o.Cases, err), err
}

// plan creates the trials of a case, and returns the cases to apply. A case that has none is
// concluded.
func (l *live) plan(c *behave.Case, lacks string) []*behave.Case {
	changes := c.LiveChanges()
	l.changes[c] = changes
	full := c.Still()
	var bare []*behave.Case
	for i := range changes {
		if lacks != "" {
			changes[i].Outcome, changes[i].Reason = behave.Skipped, lacks
		}
		if changes[i].Outcome != "" {
			continue
		}
		t := &trial{LiveChange: &changes[i], of: c, full: full, bare: full.Without(changes[i].Covers)}
		l.trials[t.bare] = t
		l.open[c]++
		bare = append(bare, t.bare)
	}
	if len(bare) == 0 {
		l.results.add(c, behave.ConcludeLive(c, changes, nil, l.Bundled))
	}
	return bare
}

// layout puts trials with nothing in common into a batch. The claims of a case are those with its
// annotations set. A change of the ConfigMap affects all cases.
func (l *live) layout() plan {
	return plan{
		claims: func(c *behave.Case) claims {
			t := l.trials[c]
			all := claimsOf(t.full)
			all.everything = all.everything || !maps.Equal(t.full.Config, t.bare.Config)
			return all
		},
		length:  func(c *behave.Case) time.Duration { return 3*lengthOf(c) + 2*perChange },
		longest: 40 * time.Second,
	}
}

// watched records the outcome of a trial. A failed trial is repeated later.
func (l *live) watched(c *behave.Case, result behave.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.trials[c]
	t.Outcome, t.Reason, t.took = result.Outcome, result.Reason, result.Took
	if t.Outcome != behave.Failed {
		l.close(t)
		return
	}
	again := []direction{removing}
	if t.Removed == nil { // the first direction failed
		again = []direction{setting, removing}
	}
	t.Outcome, t.failures = behave.Passed, nil // unless an attempt says otherwise
	l.open[t.of]--
	for _, d := range again {
		start := *t.bare
		if d == removing {
			start = *t.full
		}
		l.attempts[&start] = &attempt{trial: t, direction: d}
		l.open[t.of]++
	}
}

// alone returns a group for each attempt whose field lone has this value, so that each has its own
// controller.
func (l *live) alone(lone bool) []*group {
	var groups []*group
	for c, a := range l.attempts {
		if a.lone == lone {
			groups = append(groups, &group{flags: c.Flags, batches: []batch{{c.Config, []*behave.Case{c}}}})
		}
	}
	return groups
}

// repeated records the outcome of an attempt. A failed attempt is repeated alone.
func (l *live) repeated(c *behave.Case, result behave.Result) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.attempts[c]
	if result.Outcome == behave.Failed && !a.lone {
		a.lone = true
		return
	}
	if result.Outcome != behave.Passed {
		a.Outcome, a.Reason = result.Outcome, result.Reason
		a.failures = append(a.failures, result.Failures...)
	}
	l.close(a.trial)
}

// close concludes a case when the last of its trials is over.
func (l *live) close(t *trial) {
	if l.open[t.of]--; l.open[t.of] > 0 {
		return
	}
	var failures []behave.Failure
	var took time.Duration
	for _, other := range l.trials {
		if other.of == t.of {
			failures, took = append(failures, other.failures...), took+other.took
		}
	}
	slices.SortFunc(failures, func(a, b behave.Failure) int { return a.Line - b.Line })
	result := behave.ConcludeLive(t.of, l.changes[t.of], failures, l.Bundled)
	result.Took = took
	l.results.add(t.of, result)
}
