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

// rollingUpdate replaces the pods of one service after another. As a
// Deployment with maxSurge 1 does it, the new pod is ready before the old one
// is asked to end; one write of the EndpointSlice says both.
func rollingUpdate(s scenario.Step, in setting, next int) ([]Beat, int) {
	stream := churn.RollingUpdate(in.population, churn.Options{Seed: in.seed, Rate: float64(s.Rate), For: s.For, Start: s.At})
	var beats []Beat
	for _, replacement := range stream.Changes {
		id := next
		beats = append(beats, Beat{At: replacement.At, Do: func(ctx context.Context, c *Cluster) error {
			return c.replace(ctx, id, replacement, s.Drain)
		}})
		next++
	}
	return beats, next
}

// replace swaps one pod of a service for a new one. The old pod serves on for
// drain after the API has taken the change, then its address refuses.
func (c *Cluster) replace(ctx context.Context, id int, r churn.Change, drain time.Duration) error {
	service := c.services[r.Service]
	place := slices.Index(service.members, r.Remove)
	if place < 0 {
		return fmt.Errorf("change %d: pod %s is not in service %s", id, r.Remove, r.Service)
	}
	if err := c.startPod(r.Add, service.Service); err != nil {
		return err
	}
	service.members[place] = r.Add
	// The new pod takes the place of the old one, so only the slice of that place changes.
	slice, err := cluster.Object(c.slices(service)[place/corpus.SliceSize])
	if err != nil {
		return err
	}
	change := event.Change{
		ID: id, Step: scenario.RollingUpdate, Object: cluster.Name(slice),
		Service: r.Service, Host: service.target.Host, Path: service.target.Path,
		Added: []string{c.qualified(r.Add)}, Removed: []string{c.qualified(r.Remove)}, Pods: len(service.members),
	}
	if err := c.change(ctx, change, func() (string, error) { return c.client.Put(ctx, slice) }); err != nil {
		return err
	}
	old, ok := c.pods.Get(c.qualified(r.Remove))
	if !ok {
		return fmt.Errorf("change %d: pod %s was never started", id, r.Remove)
	}
	old.Terminate(drain)
	return nil
}
