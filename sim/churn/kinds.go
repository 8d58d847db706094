package churn

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"windtunnel.dev/sim/corpus"
)

// ScaleOut adds pods to one service after another, like an autoscaler. The services take turns in
// a seeded order: each comes once before any comes again.
func ScaleOut(p corpus.Population, o Options) Stream {
	chance := rand.New(rand.NewPCG(o.Seed, scaleStream))
	var taken []string
	for _, service := range p.Services {
		taken = append(taken, service.Pods...)
	}
	names := corpus.NewNames(chance, taken...)
	return each(p, o, chance, func(c *Change, service corpus.Service) {
		for range max(1, o.Pods) {
			c.Add = append(c.Add, names.Pod(service.Name))
		}
	})
}

// NewHosts creates an ingress for a new host in each change: new-1.NAMESPACE.example and so on.
// Each routes to a service of the population, in a seeded order. If there are services with pods and
// without an ingress, it uses only those.
func NewHosts(p corpus.Population, o Options) Stream {
	chance := rand.New(rand.NewPCG(o.Seed, hostStream))
	routed := p.Routed()
	unrouted := slices.DeleteFunc(slices.Clone(p.Services), func(s corpus.Service) bool { return routed[s.Key()] || len(s.Pods) == 0 })
	if len(unrouted) > 0 {
		p.Services = unrouted
	}
	return each(p, o, chance, func(c *Change, _ corpus.Service) {
		c.Host, c.Paths = fmt.Sprintf("new-%d.%s.example", c.ID, p.Namespace), o.Paths
	})
}

// Touch writes objects again without a relevant change: slices with their endpoints in another
// order, services with other labels, ingresses with other annotations. A controller that reloads
// because of one of them reloads needlessly.
func Touch(p corpus.Population, o Options) Stream {
	chance := rand.New(rand.NewPCG(o.Seed, touchStream))
	routed := p.Routed()
	return each(p, o, chance, func(c *Change, _ corpus.Service) {
		all := []Touched{Slice, Labels, Ingress}
		if !routed[c.Service] {
			all = all[:2]
		}
		c.Touch = all[chance.IntN(len(all))]
	})
}

// each returns a stream with a change for each time. The services with pods take turns in a seeded
// order; fill completes each change.
func each(p corpus.Population, o Options, chance *rand.Rand, fill func(*Change, corpus.Service)) Stream {
	s := Stream{Length: o.Start + o.For}
	services := slices.DeleteFunc(slices.Clone(p.Services), func(s corpus.Service) bool { return len(s.Pods) == 0 })
	if len(services) == 0 {
		return s
	}
	var order []int
	for i, at := range times(o) {
		if len(order) == 0 {
			order = chance.Perm(len(services))
		}
		service := services[order[0]]
		order = order[1:]
		change := Change{ID: i + 1, At: at, Service: service.Key()}
		fill(&change, service)
		s.Changes = append(s.Changes, change)
	}
	return s
}

// Merge merges several streams into one and renumbers the changes by time. Changes with the same
// time are in the order of the streams.
func Merge(streams ...Stream) Stream {
	var all Stream
	for _, s := range streams {
		all.Length = max(all.Length, s.Length)
		all.Changes = append(all.Changes, s.Changes...)
	}
	slices.SortStableFunc(all.Changes, func(a, b Change) int { return cmp.Compare(a.At, b.At) })
	for i := range all.Changes {
		all.Changes[i].ID = i + 1
	}
	return all
}
