// Package live generates churn in a real cluster. It creates its own population and applies the
// same changes to it as scenarios do. The plan is complete before the first write to the API. Its
// one rule: it removes every namespace that it created, and touches another namespace only if the
// caller names it.
package live

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/backend/pool"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/step"
)

// Options configure Churn and DryRun.
type Options struct {
	Config *rest.Config
	Plan   *Plan
	Touch  string // an existing namespace that may be used; "" for none
	Image  string // of real pods, with windtunnel backend in it; "" for pods that are unreachable addresses
	Keep   bool   // keep all created objects
	// Began is called with the name of the run when the population exists. It may be nil.
	Began func(run string)
	// Progress is called every second with the elapsed time. It may be nil.
	Progress func(time.Duration, Tally)
	// Removing is called before what the run created is removed, which may take minutes if the API
	// server does not answer. It may be nil.
	Removing func()
}

// Result is the outcome of Churn.
type Result struct {
	Tally
	Run       string // the value of RunLabel
	Length    time.Duration
	Recording churn.Recording
	Trouble   string // the last problem with pods; "" if there was none
}

// cleanupTimeout limits how long the removal of the created objects may take.
const cleanupTimeout = 2 * time.Minute

// poolName is the name of the Deployment of real pods, and of its Secret.
const poolName = "windtunnel-backends"

// run is one call of Churn or DryRun.
type run struct {
	Options
	name    string
	ground  runNamespace
	client  kubernetes.Interface
	generic dynamic.Interface
	writer  *cluster.Client
	made    inventory
	pods    backend.Fleet
	counter *counter
}

// DryRun returns what Churn would write, one line per write. Like Churn, it fails if the namespace
// must not be touched.
func DryRun(ctx context.Context, o Options) ([]string, error) {
	r, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := r.findNamespace(ctx); err != nil {
		return nil, err
	}
	var lines []string
	if r.ground.own {
		lines = append(lines, "create Namespace "+r.ground.name)
	}
	if o.Image != "" {
		for _, kind := range []string{"Secret", "Deployment"} {
			lines = append(lines, fmt.Sprintf("create %s %s/%s", kind, r.ground.name, poolName))
		}
	}
	return slices.AppendSeq(lines, o.Plan.lines), nil
}

// Churn creates the population in its namespace, makes the changes at their times, and removes
// everything it created. If ctx ends early, Churn cleans up and returns no error; the result then
// covers the finished part, and has no Run if nothing was begun.
func Churn(ctx context.Context, o Options) (Result, error) {
	r, err := prepare(o)
	if err != nil {
		return Result{}, err
	}
	if err := r.findNamespace(ctx); err != nil {
		return Result{}, ignoreInterrupt(ctx, err)
	}
	clean, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if err := r.ground.claim(ctx, r.client, r.name); err != nil {
		return Result{}, errors.Join(ignoreInterrupt(ctx, err), r.removeUnacknowledged(clean))
	}
	length, err := r.churn(ctx)
	err = errors.Join(ignoreInterrupt(ctx, err), r.clean(clean))
	result := Result{Tally: r.counter.now(), Run: r.name, Length: length, Trouble: r.counter.trouble()}
	var unrecorded error
	result.Recording, unrecorded = o.Plan.recording(r.counter.counts(), length)
	return result, errors.Join(err, unrecorded)
}

// ignoreInterrupt returns err, or nil if ctx has ended, because an interrupt is not an error.
func ignoreInterrupt(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

func prepare(o Options) (*run, error) {
	r := &run{Options: o, name: strings.ToLower(rand.Text()[:8]), made: o.Plan.inventory(), counter: newCounter(len(o.Plan.Stream.Changes))}
	if o.Image != "" {
		r.made.add("Deployment", poolName)
		r.made.add("Secret", poolName)
	}
	r.Config = cluster.FinishWrites(o.Config, cluster.WriteGrace)
	r.Config.QPS = -1 // no client-side limit; the plan sets the rate
	var err error
	if r.client, err = kubernetes.NewForConfig(r.Config); err != nil {
		return nil, err
	}
	r.generic, err = dynamic.NewForConfig(r.Config)
	return r, err
}

// findNamespace sets the namespace of the run. It returns an error if the run must not use it.
func (r *run) findNamespace(ctx context.Context) (err error) {
	if r.ground, err = findNamespace(ctx, r.client, r.Plan.Population.Namespace, r.Touch, r.name); err != nil {
		return err
	}
	if r.ground.own {
		return nil
	}
	return r.made.checkConflicts(ctx, r.generic, r.ground.name)
}

// churn creates the population and makes the changes. It returns how long the changes took.
func (r *run) churn(ctx context.Context) (time.Duration, error) {
	writer, err := cluster.New(r.Config)
	if err != nil {
		return 0, err
	}
	r.writer = writer.Labelled(labels(r.name))
	log := event.NewLog(io.Discard, time.Now())
	log.Tap(r.counter.observe)
	if r.pods, err = r.fleet(ctx, log); err != nil {
		return 0, err
	}
	defer r.pods.Stop()
	c := step.NewCluster("", r.writer, r.pods, r.Plan.Population, log)
	if err := r.populate(ctx, c); err != nil {
		return 0, err
	}
	if r.Began != nil {
		r.Began(r.name)
	}
	return r.play(ctx, c)
}

// fleet returns the fleet of the run: real pods if there is an image, otherwise only addresses.
func (r *run) fleet(ctx context.Context, log *event.Log) (backend.Fleet, error) {
	if r.Image == "" {
		return newAddresses(), nil
	}
	p, s := r.Plan, r.Plan.Spec
	pods := 0
	for _, service := range p.Population.Services {
		pods += len(service.Pods)
	}
	replaced := 0.0
	for _, change := range p.Stream.Changes {
		pods += max(0, len(change.Add)-len(change.Remove)) // the number of pods at the end
		replaced += float64(len(change.Remove))
	}
	shape := pool.Spec{
		Namespace: r.ground.name, Name: poolName, Image: r.Image, Token: rand.Text(), Drain: s.Drain,
		Replicas: int32(pool.Size(pods, replaced/s.For.Seconds(), s.Drain, 0)),
	}
	for _, typed := range shape.Objects() {
		object, err := cluster.Object(typed)
		if err != nil {
			return nil, err
		}
		if err := r.writer.CreateAll(ctx, []*unstructured.Unstructured{object}); err != nil {
			return nil, err
		}
	}
	if err := pool.Await(ctx, r.client, shape.Namespace, shape.Name, shape.Replicas); err != nil {
		return nil, err
	}
	return pool.Open(ctx, pool.Options{Config: r.Config, Namespace: shape.Namespace, Name: shape.Name, Token: shape.Token, Log: log})
}

func (r *run) populate(ctx context.Context, c *step.Cluster) error {
	if err := c.StartPods(); err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, typed := range r.Plan.Population.Objects(c.Address) {
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if object.GetNamespace() != "" { // claim creates the namespace; the class is not created
			objects = append(objects, object)
		}
	}
	return r.writer.CreateAll(ctx, objects)
}

// play makes the changes at their times, one after the other. It returns how long that took.
func (r *run) play(ctx context.Context, c *step.Cluster) (time.Duration, error) {
	begin := time.Now()
	stop := r.reportProgress(begin)
	defer stop()
	for _, task := range r.Plan.tasks {
		if err := sleepUntil(ctx, begin.Add(task.At)); err != nil {
			return time.Since(begin), err
		}
		r.counter.late(time.Since(begin.Add(task.At)))
		if err := task.Do(ctx, c); err != nil {
			return time.Since(begin), err
		}
	}
	err := sleepUntil(ctx, begin.Add(r.Plan.Spec.For))
	return time.Since(begin), err
}

// progressInterval is the interval of progress reports.
const progressInterval = time.Second

func (r *run) reportProgress(begin time.Time) (stop func()) {
	if r.Progress == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for sleepUntil(ctx, time.Now().Add(progressInterval)) == nil {
			r.Progress(time.Since(begin), r.counter.now())
		}
	}()
	return func() { cancel(); <-ended }
}

func sleepUntil(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// removeUnacknowledged removes the namespace if it was created but the API's answer was lost.
func (r *run) removeUnacknowledged(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	name := r.Plan.Population.Namespace
	var g runNamespace
	err := cluster.Retry(ctx, func(ctx context.Context) (_ bool, err error) {
		g, err = findNamespace(ctx, r.client, name, "", r.name)
		return true, err
	})
	switch {
	case errors.Is(err, ErrNotOurs) || err == nil && g.uid == "":
		return nil // it belongs to another, or does not exist
	case err != nil:
		return fmt.Errorf("namespace %s may have been created: %w; check with kubectl get namespace -l %s=%s, and if it exists: kubectl delete namespace %s", name, err, RunLabel, r.name, name)
	}
	return g.remove(ctx, r.client)
}

// clean removes everything the run created, unless it is to be kept.
func (r *run) clean(ctx context.Context) error {
	if r.Keep {
		return nil
	}
	if r.Removing != nil {
		r.Removing()
	}
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	if r.ground.own {
		return r.ground.remove(ctx, r.client)
	}
	err := cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		return true, r.made.remove(ctx, r.generic, r.ground.name, r.name)
	})
	if err != nil {
		return fmt.Errorf("remove the run's objects in %s; the remaining ones have the label %s=%s: %w", r.ground.name, RunLabel, r.name, err)
	}
	return nil
}
