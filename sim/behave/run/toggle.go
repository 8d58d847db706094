package run

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/ask"
)

const (
	// perChange is about how long a live change takes, besides the requests.
	perChange = 1500 * time.Millisecond
	// soon is how long to wait for the report of a sync or for a reload if no answer can be
	// watched. Neither has to come.
	soon = 1500 * time.Millisecond
	// watchEvery is the time between two checks for a change.
	watchEvery = 20 * time.Millisecond
	// tooSlow is the time limit for requests that are repeated to watch for a change.
	tooSlow = 500 * time.Millisecond
	// retryEvery is the time between two tries of all requests of a case.
	retryEvery = 250 * time.Millisecond
	// reportPatience is how long to wait for the report of a sync whose effect was seen already.
	reportPatience = 200 * time.Millisecond
)

// goal is the result that the answers of a case must reach after a change.
type goal struct {
	failures []behave.Failure // the expectations that fail
	watch    []behave.Step    // requests that can be repeated until they show the change
	once     bool             // send the requests only once, after the bound
}

// watch performs a trial. The case is applied without the annotation or key that the trial changes.
func (l *live) watch(ctx context.Context, s *stay) behave.Result {
	t := l.trials[s.Case]
	s.patience = arrival // a request that does not show the change yet is repeated
	before, err := s.answers(ctx, t.bare.Steps, l.Bundled)
	if err != nil {
		return behave.Voided(t.of, err.Error())
	}
	if len(before.Unknown) > 0 {
		return behave.Skip(t.of, strings.Join(before.Unknown, "; "))
	}
	t.without, t.Shown = before.Failures, len(before.Failures) > 0
	watch := slices.DeleteFunc(t.full.Watchable(before.Failures), s.slow)
	result := behave.Result{Outcome: behave.Failed}
	if t.Earlier {
		watch = nil
	}
	set, got, err := l.reach(ctx, s, t.bare, t.full, goal{t.afterwards(), watch, false})
	if err == nil && behave.SameFailures(got, t.afterwards()) {
		var removed behave.Seen
		removed, got, err = l.reach(ctx, s, t.full, t.bare, goal{t.without, watch, false})
		t.Set, t.Removed = &set, &removed
		if err == nil && behave.SameFailures(got, t.without) {
			result.Outcome = behave.Passed
		}
	}
	if err == nil && result.Outcome == behave.Failed {
		if err = s.become(ctx, t.full, t.bare); err == nil {
			err = s.in.live(ctx, noisy) // so that the change does not disturb the next trial
		}
	}
	if err != nil {
		return behave.Voided(t.of, err.Error())
	}
	return result
}

// afterwards are the expectations that fail after the annotation or key of a trial is set: none, or
// those that failed before if the earlier version stays.
func (t *trial) afterwards() []behave.Failure {
	if t.Earlier {
		return t.without
	}
	return nil
}

// repeat performs one direction of a trial again.
func (l *live) repeat(ctx context.Context, s *stay) behave.Result {
	a := l.attempts[s.Case]
	s.patience = arrival
	from, to, want, done := a.bare, a.full, a.afterwards(), a.Covers+" is set"
	if a.direction == removing {
		from, to, want, done = a.full, a.bare, a.without, a.Covers+" is removed"
	}
	seen, got, err := l.reach(ctx, s, from, to, goal{want, nil, true})
	if err != nil {
		return behave.Voided(a.of, err.Error())
	}
	if a.direction == removing {
		a.Removed = &seen
	} else {
		a.Set = &seen
	}
	if behave.SameFailures(got, want) {
		return behave.Result{Outcome: behave.Passed}
	}
	when := "but not seen within " + l.Bound.String()
	if err := s.in.live(ctx, noisy); err != nil {
		return behave.Voided(a.of, err.Error())
	}
	if later, err := s.answers(ctx, to.Steps, l.Bundled); err == nil && behave.SameFailures(later.Failures, want) {
		when = "but only seen after another change"
	}
	return behave.Result{Outcome: behave.Failed, Failures: a.full.Unlike(done, when, got, want)}
}

// reach changes the case, and returns when its answers reach the goal, or when the time is over.
// got are the expectations that fail at the end.
func (l *live) reach(ctx context.Context, s *stay, from, to *behave.Case, want goal) (seen behave.Seen, got []behave.Failure, err error) {
	generation := s.in.generation()
	s.in.whys.take()
	began := time.Now()
	if err := s.become(ctx, from, to); err != nil {
		return seen, nil, err
	}
	switch {
	case want.once:
		err = pause(ctx, l.Bound)
	case len(want.watch) == 0:
		err = s.in.rest(ctx, generation)
	default:
		seen.Took, err = l.see(ctx, s, want, began)
	}
	for err == nil {
		var found behave.Judgement
		if err = s.in.calm(ctx); err != nil {
			break
		}
		if found, err = s.answers(ctx, to.Steps, l.Bundled); err != nil {
			break
		}
		got = found.Failures
		if behave.SameFailures(got, want.failures) || time.Since(began) > l.Bound {
			break
		}
		err = pause(ctx, retryEvery)
	}
	if err != nil {
		return seen, got, err
	}
	for waited := time.Duration(0); len(seen.Why) == 0 && waited < reportPatience; waited += watchEvery {
		if seen.Why = s.in.whys.take(); len(seen.Why) == 0 {
			if err := pause(ctx, watchEvery); err != nil {
				return seen, got, err
			}
		}
	}
	seen.Reloads = s.in.generation() - generation
	return seen, got, nil
}

// see repeats requests until they reach the goal. It returns the time since the change began, or 0
// if that exceeds the bound.
func (l *live) see(ctx context.Context, s *stay, want goal, began time.Time) (time.Duration, error) {
	failing := behave.Of(want.failures, want.watch)
	for time.Since(began) < l.Bound {
		found, err := s.answers(ctx, want.watch, l.Bundled)
		if err != nil {
			return 0, err
		}
		if behave.SameFailures(found.Failures, failing) {
			return time.Since(began), nil
		}
		if err := pause(ctx, watchEvery); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// rest waits for a change that cannot be watched: until the controller reports a sync or nginx is
// reloaded, but not longer than soon, and then until the workers have polled for endpoints.
func (i *installation) rest(ctx context.Context, generation int) error {
	for began := time.Now(); time.Since(began) < soon && i.generation() == generation && !i.whys.any(); {
		if err := pause(ctx, watchEvery); err != nil {
			return err
		}
	}
	return pause(ctx, pollInterval+pollInterval/5)
}

// calm waits until all workers that accept connections are of one generation.
func (i *installation) calm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, livePatience)
	defer cancel()
	_, err := i.workers.Await(ctx, oneGeneration)
	return err
}

// slow reports whether a step that was just performed took too long to watch for a change.
func (s *stay) slow(step behave.Step) bool {
	for i, performed := range s.Steps {
		if performed.Line == step.Line && i < len(s.records) {
			return slices.ContainsFunc(s.records[i].Exchanges, func(e behave.Exchange) bool { return e.Took > tooSlow })
		}
	}
	return true
}

// become writes the differences between two states of the case: annotations and the ConfigMap.
func (s *stay) become(ctx context.Context, from, to *behave.Case) error {
	for i, manifest := range to.Manifests {
		if manifest.Object == from.Manifests[i].Object {
			continue
		}
		if err := s.put(ctx, manifest); err != nil {
			return err
		}
	}
	if maps.Equal(from.Config, to.Config) {
		return nil
	}
	return s.in.configure(ctx, s.located(to.Config))
}

// answers performs steps with new cookie jars, and judges them.
func (s *stay) answers(ctx context.Context, steps []behave.Step, bundled bool) (behave.Judgement, error) {
	s.jars, s.records = &ask.Jars{}, nil
	for _, step := range steps {
		if err := s.step(ctx, step); err != nil {
			return behave.Judgement{}, err
		}
	}
	asked := *s.Case
	asked.Steps = steps
	return behave.JudgeAll(&asked, s.records, bundled), nil
}
