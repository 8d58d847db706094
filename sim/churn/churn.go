// Package churn generates streams of changes over a population. It turns the churn in a scenario
// into changes that package step writes to the API server. Its one rule: a stream comes from a seed
// or a file and is complete before a run begins, so that every subject and every replay gets the
// same changes at the same times.
package churn

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"windtunnel.dev/sim/corpus"
)

// Change is one of: pods that join or leave a service (a write of its EndpointSlices), a new host
// (a write of an Ingress), or an object that is written again without a relevant change.
type Change struct {
	ID      int           `json:"id"`               // from 1, unique in the stream
	At      time.Duration `json:"at"`               // from the beginning of the timeline, or of the round; nanoseconds in a file
	Service string        `json:"service"`          // namespace/name of the service whose pods change, or answer for a new host
	Add     []string      `json:"add,omitempty"`    // joining pods, without their namespace
	Remove  []string      `json:"remove,omitempty"` // leaving pods, without their namespace
	Host    string        `json:"host,omitempty"`   // the new host
	Paths   int           `json:"paths,omitempty"`  // further paths of the new host, see corpus.Ingress.Further
	Touch   Touched       `json:"touch,omitempty"`  // the object to write again, without a relevant change
}

// Touched names an object of a service that is written again.
type Touched string

// The values of Touched.
const (
	Slice   Touched = "slice"   // its EndpointSlice, with the endpoints in another order
	Labels  Touched = "labels"  // the Service itself, with another label
	Ingress Touched = "ingress" // an ingress that routes to it, with another unused annotation
)

// Stream is a list of changes, sorted by time.
type Stream struct {
	Length  time.Duration // of the timeline; no change is later
	Changes []Change
}

// Options set the amount and the time of a churn.
type Options struct {
	Seed  uint64
	Rate  float64 // changes per second
	For   time.Duration
	Start time.Duration // on the timeline
	Pods  int           // that each change of a scale-out adds; 0 means 1
	Paths int           // further ones of each new host
}

// The random streams of a seed. Each use has its own stream, so that, for example, the times of the
// changes do not depend on the services that change.
const (
	orderStream = iota + 1
	timeStream
	nameStream
	certificateStream
	scaleStream
	hostStream
	touchStream
)

// RollingUpdate replaces the pods of one service after another, like a Deployment with maxSurge 1.
// The services take turns in a seeded order: each comes once before any comes again. There are Rate
// × For changes, rounded to a whole number. The time is divided into that many equal slots, and
// each change has a random time in its slot. The stream is empty if the population has no pods.
func RollingUpdate(p corpus.Population, o Options) Stream {
	s := Stream{Length: o.Start + o.For}
	roll := newRoll(p, o.Seed)
	if len(roll.services) == 0 {
		return s
	}
	for i, at := range times(o) {
		change := roll.next()
		change.ID, change.At = i+1, at
		s.Changes = append(s.Changes, change)
	}
	return s
}

// times returns the times of the changes.
func times(o Options) []time.Duration {
	chance := rand.New(rand.NewPCG(o.Seed, timeStream))
	count := int(math.Round(o.Rate * o.For.Seconds()))
	begin := func(slot int) time.Duration {
		return time.Duration(float64(o.For) * (float64(slot) / float64(count)))
	}
	var at []time.Duration
	for i := range count {
		width := max(1, begin(i+1)-begin(i))
		at = append(at, o.Start+begin(i)+time.Duration(chance.Int64N(int64(width))))
	}
	return at
}

// roll is the progress of a rolling update of all services.
type roll struct {
	services []corpus.Service // those with pods; Pods has the current members
	names    *corpus.Names
	chance   *rand.Rand
	order    []int    // the services left in this turn; the first is being updated
	old      []string // the pods of that service that are still to be replaced
}

func newRoll(p corpus.Population, seed uint64) *roll {
	r := &roll{chance: rand.New(rand.NewPCG(seed, orderStream))}
	var pods []string
	for _, service := range p.Services {
		if len(service.Pods) > 0 {
			service.Pods = slices.Clone(service.Pods)
			r.services = append(r.services, service)
			pods = append(pods, service.Pods...)
		}
	}
	r.names = corpus.NewNames(rand.New(rand.NewPCG(seed, nameStream)), pods...)
	return r
}

// next replaces one pod, of the service that is being updated or, if that is complete, of the next
// one.
func (r *roll) next() Change {
	if len(r.old) == 0 {
		if len(r.order) > 0 {
			r.order = r.order[1:]
		}
		if len(r.order) == 0 {
			r.order = r.chance.Perm(len(r.services))
		}
		r.old = slices.Clone(r.services[r.order[0]].Pods)
	}
	service := &r.services[r.order[0]]
	leaving, coming := r.old[0], r.names.Pod(service.Name)
	r.old = r.old[1:]
	service.Pods[slices.Index(service.Pods, leaving)] = coming
	return Change{Service: service.Key(), Add: []string{coming}, Remove: []string{leaving}}
}
