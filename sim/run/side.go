package run

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/step"
)

// readyPatience is how long a subject may take to serve its population.
const readyPatience = 2 * time.Minute

// side is one subject of the comparison, with all that acts on it and looks at it.
type side struct {
	name     string
	instance driver.Instance
	log      *event.Log

	population corpus.Population
	cluster    *step.Cluster
	workers    *probe.Workers
	usage      *probe.Usage
}

// launch loads the population and starts the subject; it returns when every
// host of the population is served. What looks at the subject goes on until
// run is done.
func (s *side) launch(ctx, run context.Context, population corpus.Population) error {
	s.population = population
	ctx, cancel := context.WithTimeoutCause(ctx, readyPatience, fmt.Errorf("not within %v", readyPatience))
	defer cancel()
	client, err := cluster.New(s.instance.API())
	if err != nil {
		return fmt.Errorf("subject %s: %w", s.name, err)
	}
	s.cluster = step.NewCluster(s.name, client, s.instance.Pods(), population, s.log)
	if err := s.populate(ctx, client); err != nil {
		return fmt.Errorf("subject %s: loading the population: %w", s.name, err)
	}
	began := time.Now()
	if err := s.instance.Launch(ctx); err != nil {
		return err
	}
	first := event.Start{Healthy: time.Since(began)}
	first.Asked, first.Unserved = s.lookOnce(ctx)
	s.workers = probe.WatchWorkers(run, s.log, s.name, s.instance.Master)
	s.cluster.Victim = victim{Place: s.instance, Pods: s.cluster, side: s}
	s.usage = probe.WatchUsage(run, s.log, s.workers, func() (int, error) { return s.instance.Controller(), nil })
	if err := s.awaitServed(ctx); err != nil {
		return err
	}
	first.Served = time.Since(began)
	s.log.Write(event.Event{At: s.log.Now(), Subject: s.name, Start: &first})
	s.phase(event.Ready, 0)
	return nil
}

// populate starts the pods, then writes the objects that name their addresses.
func (s *side) populate(ctx context.Context, client *cluster.Client) error {
	if err := s.cluster.StartPods(); err != nil {
		return err
	}
	var objects []*unstructured.Unstructured
	for _, typed := range s.population.Objects(s.cluster.Address) {
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		objects = append(objects, object)
	}
	return client.CreateAll(ctx, objects)
}

func (s *side) phase(name event.PhaseName, round int) {
	s.log.Write(event.Event{At: s.log.Now(), Subject: s.name, Phase: &event.Phase{Name: name, Round: round}})
}

func (s *side) stop(ctx context.Context) error {
	if err := s.instance.Stop(ctx); err != nil {
		return fmt.Errorf("stopping subject %s: %w", s.name, err)
	}
	s.phase(event.Stopped, 0)
	return nil
}

// victim is the subject as its faults see it.
type victim struct {
	fault.Place
	fault.Pods
	side *side
}

func (v victim) Trouble(what, detail string) {
	v.side.log.Write(event.Event{At: v.side.log.Now(), Subject: v.side.name, Trouble: &event.Trouble{What: what, Detail: detail}})
}

func (v victim) Workers() []int {
	var serving []int
	for _, w := range v.side.workers.Alive() {
		if w.State == event.Active {
			serving = append(serving, w.PID)
		}
	}
	return serving
}
