package step

import (
	"context"
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
)

// streams are how the changes of a churn are made, by its kind.
var streams = map[string]func(corpus.Population, churn.Options) churn.Stream{
	scenario.RollingUpdate: churn.RollingUpdate,
	scenario.ScaleOut:      churn.ScaleOut,
	scenario.NewHosts:      churn.NewHosts,
	scenario.Touch:         churn.Touch,
}

// churned is a beat for each change of a stream.
func churned(s scenario.Step, in setting, next int) ([]Beat, int) {
	stream := streams[s.Churn](in.population, churn.Options{Seed: in.seed, Rate: float64(s.Rate), For: s.For, Start: s.At})
	var beats []Beat
	for _, change := range stream.Changes {
		id := next
		beats = append(beats, Beat{At: change.At, Do: func(ctx context.Context, c *Cluster) error {
			return c.churn(ctx, id, s.Churn, change, s.Drain)
		}})
		next++
	}
	return beats, next
}

// churn makes one change of a stream.
func (c *Cluster) churn(ctx context.Context, id int, kind string, change churn.Change, drain time.Duration) error {
	service := c.services[change.Service]
	if service == nil {
		return fmt.Errorf("change %d: there is no service %s", id, change.Service)
	}
	switch {
	case change.Host != "":
		return c.newHost(ctx, event.Change{ID: id, Step: kind}, change.Host, service)
	case change.Touch != "":
		return c.touch(ctx, event.Change{ID: id, Step: kind}, change.Touch, service)
	}
	return c.replace(ctx, event.Change{ID: id, Step: kind}, change, service, drain)
}

// replace brings a pod into a service, takes one out of it, or swaps two: as a
// Deployment with maxSurge 1 does it, the new pod is ready before the old one is
// asked to end; one write of the EndpointSlice says both. The old pod serves on
// for drain after the API has taken the change, then its address refuses.
func (c *Cluster) replace(ctx context.Context, change event.Change, r churn.Change, service *service, drain time.Duration) error {
	place := len(service.members)
	if r.Remove != "" {
		if place = slices.Index(service.members, r.Remove); place < 0 {
			return fmt.Errorf("change %d: pod %s is not in service %s", change.ID, r.Remove, r.Service)
		}
		change.Removed = []string{c.qualified(r.Remove)}
	}
	if r.Add != "" {
		if err := c.startPod(r.Add, service.Service); err != nil {
			return err
		}
		change.Added = []string{c.qualified(r.Add)}
	}
	if place == len(service.members) {
		service.members = append(service.members, r.Add)
	}
	service.members[place] = r.Add // without a new pod: nobody
	slice, err := cluster.Object(c.slices(service)[place/corpus.SliceSize])
	if err != nil {
		return err
	}
	change.Object, change.Service, change.Pods = cluster.Name(slice), r.Service, service.size()
	change.Host, change.Path = service.target.Host, service.target.Path
	if err := c.change(ctx, change, func() (string, error) { return c.client.Put(ctx, slice) }); err != nil {
		return err
	}
	if r.Remove == "" {
		return nil
	}
	old, ok := c.pods.Get(c.qualified(r.Remove))
	if !ok {
		return fmt.Errorf("change %d: pod %s was never started", change.ID, r.Remove)
	}
	old.Terminate(drain)
	return nil
}

// size is how many pods the service has.
func (s *service) size() (n int) {
	for _, pod := range s.members {
		if pod != "" {
			n++
		}
	}
	return n
}
