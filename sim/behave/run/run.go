// Package run runs behaviour cases: it starts controllers, gives them the objects of the cases,
// sends the requests, and judges what it recorded. Its one rule: it knows no expectation; package
// behave does.
package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

// Options say which cases to run, and on what.
type Options struct {
	Cases  []*behave.Case
	Driver driver.Driver
	// Subject is the controller. Its flags are those of every case; the case's own take precedence.
	Subject subject.Subject
	// ConfigMap is the name of the controller's own ConfigMap.
	ConfigMap types.NamespacedName
	// Bundled says that the subject is the bundled controller, which may differ as cases admit.
	Bundled bool
	// Has reports whether nginx and the machine have what a case needs.
	Has func(need string) bool
	// Dir is the folder for logs.
	Dir string
	// Installations is how many controllers run at the same time.
	Installations int
	// Done is called with each result, by one goroutine at a time. It may be nil.
	Done func(behave.Result)
}

// Do runs the cases and returns their results, in the order of the cases. The error says why the run
// could not continue; cases that were not run are void.
func Do(ctx context.Context, o Options) ([]behave.Result, error) {
	r := &runner{Options: o, results: map[*behave.Case]behave.Result{}}
	var able []*behave.Case
	for _, c := range o.Cases {
		if reason := r.lacks(c); reason != "" {
			r.conclude(c, behave.Skip(c, reason))
		} else {
			able = append(able, c)
		}
	}
	jobs, ctx := errgroup.WithContext(ctx)
	jobs.SetLimit(max(o.Installations, 1))
	for i, g := range grouped(able) {
		jobs.Go(func() error { return r.group(ctx, i, g) })
	}
	err := jobs.Wait()
	var all []behave.Result
	for _, c := range o.Cases {
		result, ok := r.results[c]
		if !ok {
			result = behave.Voided(c, "the run ended before")
		}
		all = append(all, result)
	}
	return all, err
}

type runner struct {
	Options
	mu      sync.Mutex
	results map[*behave.Case]behave.Result
}

// lacks returns why a case cannot run, or "".
func (r *runner) lacks(c *behave.Case) string {
	for _, need := range c.Needs {
		if r.Has != nil && !r.Has(need) {
			return "there is no " + need
		}
	}
	return ""
}

func (r *runner) conclude(c *behave.Case, result behave.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[c] = result
	if r.Done != nil {
		r.Done(result)
	}
}

// group runs the cases of a group in one installation. A batch that cannot be served as a whole is
// divided, until the case that is to blame is alone.
func (r *runner) group(ctx context.Context, number int, g group) error {
	s := r.Subject
	s.Flags = maps.Clone(s.Flags)
	if s.Flags == nil {
		s.Flags = map[string]string{}
	}
	maps.Copy(s.Flags, g.flags)
	in, err := open(ctx, r.Driver, s, r.ConfigMap, filepath.Join(r.Dir, fmt.Sprintf("installation-%03d", number)))
	if err != nil {
		return r.voidAll(ctx, g.batches, fmt.Errorf("the controller did not start: %w", err))
	}
	waiting := g.batches
	for len(waiting) > 0 && err == nil {
		b := waiting[0]
		waiting = waiting[1:]
		reason, left := r.batch(ctx, in, b)
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case left != nil:
			err = fmt.Errorf("the objects of cases could not be removed: %w", left)
		case reason == nil:
		case len(b.cases) == 1:
			r.conclude(b.cases[0], behave.Voided(b.cases[0], reason.Error()))
		default:
			half := len(b.cases) / 2
			waiting = slices.Insert(waiting, 0, batch{b.config, b.cases[:half]}, batch{b.config, b.cases[half:]})
		}
	}
	return errors.Join(err, in.close(ctx))
}

func (r *runner) voidAll(ctx context.Context, batches []batch, reason error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, b := range batches {
		for _, c := range b.cases {
			r.conclude(c, behave.Voided(c, reason.Error()))
		}
	}
	return nil
}

// batch runs the cases of a batch. unasked says why none of them could be asked, and left why some
// of their objects are left.
func (r *runner) batch(ctx context.Context, in *installation, b batch) (unasked, left error) {
	var stays []*stay
	defer func() {
		leaving := context.WithoutCancel(ctx)
		for _, s := range stays {
			left = errors.Join(left, s.leave(leaving))
		}
	}()
	for _, c := range b.cases {
		s, err := enter(ctx, in, c)
		if s != nil {
			stays = append(stays, s)
		}
		if err != nil {
			return err, nil
		}
	}
	config := maps.Clone(b.config)
	for key, value := range config {
		for _, s := range stays {
			value = s.addresses(value)
		}
		config[key] = value
	}
	if err := in.configure(ctx, config); err != nil {
		return err, nil
	}
	for _, s := range stays {
		if err := s.apply(ctx); err != nil {
			return err, nil
		}
	}
	if err := in.live(ctx); err != nil {
		return err, nil
	}
	for _, s := range stays {
		r.conclude(s.Case, s.run(ctx, r.Bundled))
	}
	return nil, nil
}

// run performs the steps of a case and judges them.
func (s *stay) run(ctx context.Context, bundled bool) behave.Result {
	for _, step := range s.Steps {
		if err := s.step(ctx, step); err != nil {
			return behave.Voided(s.Case, fmt.Sprintf("line %d: %v", step.Line, err))
		}
	}
	return behave.Conclude(s.Case, s.records, bundled)
}
