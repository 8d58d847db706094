package run

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
)

// This file contains the special treatment of an existing installation that others use as well
// (driver.Standing): all cases share it, and its processes and files cannot be seen.

// sharedPatience is how long such a controller may take to serve a change: it may serve many
// ingresses, and limits the rate of its reloads.
const sharedPatience = 2 * time.Minute

// unsupported returns why the driver cannot run a case, or "".
func unsupported(d driver.Driver, c *behave.Case) string {
	if standing, ok := d.(driver.Standing); ok {
		return standing.UnsupportedCase(c)
	}
	return ""
}

// adapt adapts groups to the driver: those of a standing controller become one group, with batches
// whose pods fit into the pool.
func adapt(groups []*group, d driver.Driver) []*group {
	standing, ok := d.(driver.Standing)
	if !ok || len(groups) == 0 {
		return groups
	}
	one := &group{}
	for _, g := range groups {
		for _, b := range g.batches {
			one.batches = append(one.batches, b.within(standing.Room())...)
		}
	}
	return []*group{one}
}

// within divides a batch into batches with at most room pods each, unless a single case has more.
func (b batch) within(room int) []batch {
	if room <= 0 {
		return []batch{b}
	}
	var all []batch
	pods := 0
	for _, c := range b.cases {
		if pods += podsOf(c); len(all) == 0 || pods > room {
			all, pods = append(all, batch{config: b.config}), podsOf(c)
		}
		last := &all[len(all)-1]
		last.cases = append(last.cases, c)
	}
	return all
}

// podsOf returns the number of pods that a case starts.
func podsOf(c *behave.Case) int {
	all := 0
	for name, pods := range c.Pods {
		now := 1
		if pods.Replicas != nil {
			now = *pods.Replicas
		}
		all += now
		for _, step := range c.Steps {
			if wanted, scaled := step.Scale[name]; scaled {
				all += max(wanted-now, 0)
				now = wanted
			}
		}
	}
	return all
}

// Pods returns the number of pods of the case that starts most, and the number of pods of all cases
// together.
func Pods(cases []*behave.Case) (most, all int) {
	for _, c := range cases {
		most, all = max(most, podsOf(c)), all+podsOf(c)
	}
	return most, all
}

// exclude concludes a case that cannot be run because its objects would touch those of others, and
// takes it out of its batch. It reports whether err says so.
func (r *runner) exclude(b *batch, c *behave.Case, err error) bool {
	if !errors.Is(err, cluster.ErrNotOurs) {
		return false
	}
	r.conclude(c, behave.Voided(c, err.Error()))
	b.cases = slices.DeleteFunc(slices.Clone(b.cases), func(other *behave.Case) bool { return other == c })
	return true
}

// share sets up an installation that others use as well.
func (i *installation) share(with driver.Shared) {
	i.shared, i.client, i.class = with, with.Objects(), with.Class()
	i.steady, i.patience = steadyAmong(with.Replicas()), sharedPatience
}

// unseen is the permitted probability that a controller that does not serve a change yet remains
// unnoticed.
const unseen = 1e-6

// steadyAmong returns how many new connections in a row must show that a change is live if each of
// them reaches one of n controllers at random. One of them is missed with a probability of at most
// n(1-1/n)^k after k connections.
func steadyAmong(n int) int {
	if n <= 1 {
		return steady
	}
	k := math.Log(unseen/float64(n)) / math.Log(1-1/float64(n))
	return max(int(math.Ceil(k)), steady)
}

// createSharedSentinel creates the sentinel in the run's own namespace, with the controller's class.
func (i *installation) createSharedSentinel(ctx context.Context) error {
	if err := i.put(ctx, i.sentinelService()); err != nil {
		return err
	}
	if err := i.rotate(ctx); err != nil {
		return err
	}
	return i.move(ctx)
}

// classOf translates the name of a class in a case: nginx stands for the class of the controller.
func (s *stay) classOf(name string) string {
	if name == corpus.IngressClass && !s.aboutClasses() {
		return s.in.class
	}
	return name
}
