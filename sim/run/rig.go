package run

import (
	"cmp"
	"context"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/step"
)

// withReadyPatience returns a context that ends when the subject has had enough time to serve its
// population: two minutes, and a second for each hundred URLs.
func (r *rig) withReadyPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	patience := 2*time.Minute + time.Duration(len(r.population.Targets()))*(time.Second/100)
	return context.WithTimeoutCause(ctx, patience, fmt.Errorf("timed out after %v", patience.Round(time.Second)))
}

// rig is one subject in a run, with everything that acts on it and observes it.
type rig struct {
	name     string
	instance driver.Instance
	log      *event.Log

	population corpus.Population
	cluster    *step.Cluster
	observer   driver.Observer
}

// launch loads the population and starts the subject. It returns when every host of the
// population is served. The probes that it starts end with run.
func (r *rig) launch(ctx, run context.Context, population corpus.Population) error {
	r.population = population
	ctx, cancel := r.withReadyPatience(ctx)
	defer cancel()
	client, err := cluster.New(r.instance.API())
	if err != nil {
		return fmt.Errorf("subject %s: %w", r.name, err)
	}
	client = driver.Routed(client, r.instance)
	r.cluster = step.NewCluster(r.name, client, r.instance.Pods(), population, r.log)
	if err := r.populate(ctx, client); err != nil {
		return fmt.Errorf("subject %s: loading the population: %w", r.name, err)
	}
	began := time.Now()
	if err := r.instance.Launch(ctx); err != nil {
		return err
	}
	first := event.Start{Healthy: time.Since(began)}
	first.Asked, first.Unserved = r.countUnserved(ctx)
	if r.observer, err = r.observe(ctx, run); err != nil {
		return fmt.Errorf("subject %s: observe its processes: %w", r.name, err)
	}
	r.cluster.Victim = victim{Access: r.instance, Pods: r.cluster, rig: r}
	passes := steadyPasses
	if first.Unserved == 0 {
		passes-- // the first one is done
	}
	if err := r.awaitServed(ctx, passes); err != nil {
		return err
	}
	first.Served = time.Since(began)
	r.log.Write(event.Event{At: r.log.Now(), Subject: r.name, Start: &first})
	r.phase(event.Ready, 0)
	return nil
}

// populate starts the pods, then writes the objects that name their addresses.
func (r *rig) populate(ctx context.Context, client *cluster.Client) error {
	if err := r.cluster.StartPods(); err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, typed := range r.population.Objects(r.cluster.Address) {
		if class, ok := typed.(*networkingv1.IngressClass); ok && class.Spec.Controller == corpus.ControllerName {
			class.Spec.Controller = cmp.Or(r.instance.Setup().IngressClass.Controller, class.Spec.Controller)
		}
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if object.GetKind() == "Namespace" { // every API server has some already
			if _, err := client.Put(ctx, object); err != nil {
				return err
			}
			continue
		}
		objects = append(objects, object)
	}
	return client.CreateAll(ctx, objects)
}

func (r *rig) phase(name event.PhaseName, round int) {
	r.log.Write(event.Event{At: r.log.Now(), Subject: r.name, Phase: &event.Phase{Name: name, Round: round}})
}

func (r *rig) stop(ctx context.Context) error {
	if err := r.instance.Stop(ctx); err != nil {
		return fmt.Errorf("stopping subject %s: %w", r.name, err)
	}
	r.phase(event.Stopped, 0)
	return nil
}

// victim is the subject as its faults see it.
type victim struct {
	fault.Access
	fault.Pods
	rig *rig
}

func (v victim) Trouble(what, detail string) {
	v.rig.log.Trouble(v.rig.name, what, detail)
}

func (v victim) Workers() []int { return v.rig.observer.Workers() }
