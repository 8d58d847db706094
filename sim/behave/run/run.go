// Package run runs behaviour cases: it starts controllers, gives them the objects of the cases,
// sends the requests, records the answers and has them judged. Its one rule: it knows no
// expectation; package behave does.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/adapters"
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
	// Bundled says that the subject is the bundled controller, which may differ as cases declare.
	Bundled bool
	// Has reports whether nginx and the machine have what a case needs.
	Has func(need string) bool
	// Dir is the folder for logs.
	Dir string
	// Installations is how many controllers run at the same time.
	Installations int
	// Bound is how long a controller may take in a live run until its answers show a change. Default:
	// 10 s.
	Bound time.Duration
	// Done is called with each result, by one goroutine at a time. It may be nil.
	Done func(behave.Result)
	// Recorded is called before Done with the records of a case, one for each step, if all of its
	// steps could be performed. It is called by one goroutine at a time. It may be nil.
	Recorded func(*behave.Case, []behave.Record)
	// Patience is how long the controller may take to serve a change. 0 means 90 s, or longer where a
	// cluster is shared.
	Patience time.Duration
	// Whole says that a batch that cannot be served is void as a whole. Otherwise it is divided
	// until the case at fault is alone.
	Whole bool
	// Served is called with nginx.conf: for each case of a batch when the batch's objects are live,
	// and for a case when a change of one of its steps is live. Installations call it concurrently.
	// It may be nil. It is not called if this process cannot read nginx.conf.
	Served func(c *behave.Case, conf []byte)
}

// Do runs the cases and returns their results, in the order of the cases. The error says why the run
// could not continue; cases that were not run are void.
func Do(ctx context.Context, o Options) ([]behave.Result, error) {
	results := results{all: map[*behave.Case]behave.Result{}, done: o.Done}
	r := &runner{Options: o, conclude: results.add}
	r.perform = func(ctx context.Context, s *stay) behave.Result { return s.run(ctx, o.Bundled) }
	var able []*behave.Case
	for _, c := range o.Cases {
		if reason := r.lacks(c); reason != "" {
			r.conclude(c, behave.Skip(c, reason))
		} else {
			able = append(able, c)
		}
	}
	err := r.runAll(ctx, adapt(grouped(able, ordinary), o.Driver))
	return results.of(o.Cases, err), err
}

// results are the results of cases so far.
type results struct {
	mu   sync.Mutex
	all  map[*behave.Case]behave.Result
	done func(behave.Result) // may be nil
}

func (r *results) add(c *behave.Case, result behave.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all[c] = result
	if r.done != nil {
		r.done(result)
	}
}

// of returns the results of cases. Cases without a result are void, because of err.
func (r *results) of(cases []*behave.Case, err error) []behave.Result {
	why := "the run ended before"
	if err != nil && !errors.Is(err, context.Canceled) {
		why += ": " + err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []behave.Result
	for _, c := range cases {
		result, ok := r.all[c]
		if !ok {
			result = behave.Voided(c, why)
		}
		all = append(all, result)
	}
	return all
}

type runner struct {
	Options
	// perform runs a case whose objects are live. conclude is called with its result, or a void one.
	perform  func(context.Context, *stay) behave.Result
	conclude func(*behave.Case, behave.Result)

	queue  *queue
	mu     sync.Mutex
	opened int // installations
}

// runAll runs the batches of groups.
func (r *runner) runAll(ctx context.Context, groups []*group) error {
	r.queue = newQueue(groups)
	var jobs errgroup.Group
	for range max(r.Installations, 1) {
		jobs.Go(func() error { return r.work(ctx) })
	}
	return jobs.Wait()
}

// lacks returns why a case cannot run, or "".
func (r *runner) lacks(c *behave.Case) string {
	if reason := unsupported(r.Driver, c); reason != "" {
		return reason
	}
	if a := r.Subject.Adapter; a != "" && a != adapters.Default && len(c.Flags) > 0 {
		return fmt.Sprintf("its flags are those of the adapter %s, and the subject's adapter is %s", adapters.Default, a)
	}
	for _, manifest := range c.Manifests {
		if err := driver.Routable(r.Subject, manifest.Object); err != nil {
			return err.Error()
		}
	}
	if r.ConfigMap.Name == "" && len(c.Config) > 0 {
		return "it sets ConfigMap keys, and the controller has no ConfigMap that the run may change"
	}
	for _, need := range c.Needs {
		if r.Has != nil && !r.Has(need) {
			return "there is no " + need
		}
	}
	return ""
}

// recorded hands out the records of a case.
func (r *runner) recorded(s *stay) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Recorded != nil && len(s.records) == len(s.Steps) {
		r.Recorded(s.Case, s.records)
	}
}

// work runs batches, in one installation after another, until none is left. The error joins the
// reasons why installations could not be ended; such failures do not stop other batches.
func (r *runner) work(ctx context.Context) error {
	var trouble error
	for ctx.Err() == nil {
		g := r.queue.claim()
		if g == nil {
			return trouble
		}
		trouble = errors.Join(trouble, r.install(ctx, g))
		r.queue.release(g)
	}
	return errors.Join(trouble, context.Cause(ctx))
}

// install runs batches of a group in a new installation, until none is left or the installation is
// broken. If a batch cannot be served as a whole, it is divided until the case at fault is alone.
func (r *runner) install(ctx context.Context, g *group) error {
	in, err := open(ctx, r.Driver, r.subject(g.flags), r.ConfigMap, r.nextDir())
	if err != nil {
		left := r.queue.abandon(g)
		if _, only := r.Driver.(driver.Standing); only {
			return err
		}
		r.voidAll(ctx, left, fmt.Errorf("%s: %w", behave.NotStarted, err))
		return nil
	}
	in.patience, in.served = cmp.Or(r.Patience, in.patience), r.Served
	for broken := false; !broken && ctx.Err() == nil; {
		b, ok := r.queue.next(g)
		if !ok {
			break
		}
		reason, left := r.batch(ctx, in, &b)
		in.proven = in.proven || reason == nil
		if nothing := r.servesNothing(ctx, in, b, reason); nothing != nil {
			r.voidAll(ctx, append(r.giveUp(g), b), nothing)
			break
		}
		switch {
		case reason == nil || ctx.Err() != nil || len(b.cases) == 0:
		case len(b.cases) == 1 || r.Whole:
			for _, c := range b.cases {
				r.conclude(c, behave.Voided(c, reason.Error()))
			}
		default:
			r.queue.putBack(g, b.halves())
		}
		broken = left != nil || in.ended()
	}
	if err := in.close(ctx); err != nil {
		return fmt.Errorf("%s: %w", in.dir, err)
	}
	return nil
}

// servesNothing returns an error if an installation that has not served any batch does not even serve
// without the objects of cases. Without this check, each half of each batch would time out. reason is
// why batch b was not served.
func (r *runner) servesNothing(ctx context.Context, in *installation, b batch, reason error) error {
	if !errors.Is(reason, errNotServing) || in.proven || in.ended() || r.Whole || len(b.cases) == 1 && r.queue.empty() {
		return nil
	}
	err := in.configure(ctx, nil)
	if err == nil {
		err = in.live(ctx, noisy)
	}
	switch {
	case err == nil:
		in.proven = true
		return nil
	case ctx.Err() != nil:
		return nil //nolint:nilerr // the run ended, which says nothing about the controller
	}
	return fmt.Errorf("the controller serves nothing, even without the objects of cases: %w", err)
}

// giveUp takes batches out of the queue, because the installation of a group serves nothing: those of the
// group or, if the group has no flags that could be the reason, all.
func (r *runner) giveUp(g *group) []batch {
	if len(g.flags) > 0 {
		return r.queue.abandon(g)
	}
	return r.queue.drain()
}

// subject returns the subject with the flags of a group.
func (r *runner) subject(flags map[string]string) subject.Subject {
	s := r.Subject
	s.Flags = map[string]string{}
	maps.Copy(s.Flags, r.Subject.Flags)
	maps.Copy(s.Flags, flags)
	return s
}

// nextDir returns the folder for the logs of the next installation.
func (r *runner) nextDir() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened++
	return filepath.Join(r.Dir, fmt.Sprintf("installation-%03d", r.opened))
}

func (r *runner) voidAll(ctx context.Context, batches []batch, reason error) {
	if ctx.Err() != nil {
		return // they are void because the run ended
	}
	for _, b := range batches {
		for _, c := range b.cases {
			r.conclude(c, behave.Voided(c, reason.Error()))
		}
	}
}

// batch runs the cases of a batch. unasked says why none of them could be run, and left why some
// of their objects could not be removed. Cases that would touch objects of others are taken out of
// the batch.
func (r *runner) batch(ctx context.Context, in *installation, b *batch) (unasked, left error) {
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
		if err != nil && !r.exclude(b, c, err) {
			return err, nil
		}
	}
	config := maps.Clone(b.config)
	for _, s := range stays {
		config = s.located(config)
	}
	in.ipv6 = slices.ContainsFunc(b.cases, usesIPv6)
	if err := in.configure(ctx, config); err != nil {
		return err, nil
	}
	for _, s := range b.remaining(stays) {
		if err := s.apply(ctx); err != nil && !r.exclude(b, s.Case, err) {
			return err, nil
		}
	}
	if len(b.cases) == 0 {
		return nil, nil
	}
	if err := in.live(ctx, noisy); err != nil {
		return err, nil
	}
	for _, s := range b.remaining(stays) {
		if err := in.show(s.Case); err != nil {
			return err, nil
		}
	}
	for _, s := range b.remaining(stays) {
		began := time.Now()
		result := r.perform(ctx, s)
		if ctx.Err() != nil {
			return nil, nil // the records are not complete
		}
		result.Took = time.Since(began)
		r.recorded(s)
		r.conclude(s.Case, result)
	}
	return nil, nil
}

// remaining returns the stays of the cases that were not taken out of the batch.
func (b *batch) remaining(stays []*stay) (all []*stay) {
	for _, s := range stays {
		if slices.Contains(b.cases, s.Case) {
			all = append(all, s)
		}
	}
	return all
}

func usesIPv6(c *behave.Case) bool {
	return slices.ContainsFunc(c.Steps, func(s behave.Step) bool { return s.IPv6 })
}

// run performs the steps of a case and judges them.
func (s *stay) run(ctx context.Context, bundled bool) behave.Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends requests in the background if a step cannot be performed
	for _, step := range s.Steps {
		if err := s.step(ctx, step); err != nil {
			return behave.Voided(s.Case, fmt.Sprintf("line %d: %v", step.Line, err))
		}
	}
	if err := s.finish(); err != nil {
		return behave.Voided(s.Case, err.Error())
	}
	return behave.Conclude(s.Case, s.records, bundled)
}
