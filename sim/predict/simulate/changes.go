package simulate

import (
	"math"
	"slices"
	"time"
)

// change is a change of the cluster.
type change struct {
	kind    Kind
	at      time.Duration // its intent
	drain   time.Duration
	service int

	needsReload, needsPost bool

	// The generation and the POST that serve it, as numbers; 0: any, none: not known yet.
	generation, post int

	first, last time.Duration // when the first worker and every worker served it; none: never
}

const none = -1

// watched reports whether an answer can show the change.
func (c *change) watched() bool { return c.kind != Touch }

// arrivals returns the times of a stream.
func (s *simulation) arrivals(stream Stream) []time.Duration {
	var all []time.Duration
	if stream.Poisson {
		end := stream.At + stream.For
		for at := stream.At; ; {
			at += seconds(s.random.ExpFloat64() / stream.Rate)
			if at >= end {
				return all
			}
			all = append(all, at)
		}
	}
	count := int(math.Round(stream.Rate * stream.For.Seconds()))
	for slot := range count {
		at := float64(stream.For) * (float64(slot) + s.random.Float64()) / float64(count)
		all = append(all, stream.At+time.Duration(at))
	}
	return all
}

// prepare plans all changes.
func (s *simulation) prepare() {
	for _, stream := range s.in.Changes {
		for i, at := range s.arrivals(stream) {
			c := s.newChange(stream, i)
			c.at = at
			s.changes = append(s.changes, c)
			s.coming++
			s.at(at, func() { s.write(c) })
		}
	}
	slices.SortStableFunc(s.changes, func(a, b *change) int { return int(a.at - b.at) })
}

// newChange returns the change number i of a stream.
func (s *simulation) newChange(stream Stream, i int) *change {
	c := &change{
		kind: stream.Kind, drain: stream.Drain, generation: none, post: none, first: none, last: none,
		service: i % max(s.in.Cluster.Services, 1), // the services take turns
	}
	switch stream.Kind {
	case RollingUpdate: // all pods of a service before the next service
		c.service = i / s.podsPerService() % max(s.in.Cluster.Services, 1)
		c.needsReload, c.needsPost = !s.in.Settings.Dynamic, s.in.Settings.Dynamic
	case ScaleOut:
		c.needsReload, c.needsPost = !s.in.Settings.Dynamic, s.in.Settings.Dynamic
	case NewHosts: // services without an ingress come first, and nginx does not know these yet
		c.needsReload = true
		c.needsPost = s.in.Settings.Dynamic && s.in.Cluster.Ingresses+i < s.in.Cluster.Services
	case Edit:
		c.needsReload = true
	case Touch:
	}
	return c
}

func (s *simulation) podsPerService() int {
	return max(1, s.in.Cluster.Endpoints/max(s.in.Cluster.Services, 1))
}

// write makes a change, which the controller notices a little later.
func (s *simulation) write(c *change) {
	s.after(s.sample(Notice, Size{Fixed: 1}), func() {
		s.coming--
		switch c.kind {
		case NewHosts:
			s.cluster.Ingresses++
		case ScaleOut:
			s.cluster.Endpoints++
		}
		s.open = append(s.open, c)
		s.add(task{at: s.now})
	})
}
