// Package churn makes streams of changes over a population. It stands between
// the churn that a scenario asks for and the executor that writes it to the API
// server. Its one rule: a stream is complete before a run begins, made from a
// seed or read from a file, so that every subject and every replay gets the
// same changes at the same times.
package churn

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"windtunnel.dev/sim/corpus"
)

// Change is one write: of an EndpointSlice, where pods come into a service or
// leave it; of an Ingress, where a host is new; of an object as it is.
type Change struct {
	ID      int           `json:"id"`               // from 1, unique in the stream
	At      time.Duration `json:"at"`               // since the beginning of the timeline, or of the round; nanoseconds in a file
	Service string        `json:"service"`          // namespace/name: whose pods change, or answer at a new host
	Add     []string      `json:"add,omitempty"`    // the pods that come, without their namespace
	Remove  []string      `json:"remove,omitempty"` // the pods that leave, without their namespace
	Host    string        `json:"host,omitempty"`   // that is new
	Touch   Touched       `json:"touch,omitempty"`  // what is written again, without a change that matters
}

// Touched is an object of a service that is written again.
type Touched string

// What can be touched.
const (
	Slice   Touched = "slice"   // its EndpointSlice, the endpoints in another order
	Labels  Touched = "labels"  // the Service itself, with another label
	Ingress Touched = "ingress" // an ingress that routes to it, with another annotation that nobody reads
)

// Stream is a list of changes in the order of their times.
type Stream struct {
	Length  time.Duration // of the timeline that the changes lie on; no change is later
	Changes []Change
}

// Options say how much churn there is, and when.
type Options struct {
	Seed  uint64
	Rate  float64 // changes a second
	For   time.Duration
	Start time.Duration // on the timeline
}

// The streams of chance that a seed gives: each its own, so that the times of a
// stream do not depend on which services it rolls.
const (
	orderStream = iota + 1
	timeStream
	nameStream
	certificateStream
	scaleStream
	hostStream
	touchStream
)

// RollingUpdate replaces the pods of one service after another, as a Deployment
// with maxSurge 1 does. Services come in a seeded order, each once before any
// comes again. There are exactly Rate times For changes: time is cut into as
// many equal slots, and each change lies somewhere in its slot. The stream is
// empty where the population has no pods.
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

// times are the moments of the changes.
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

// roll is how far a rolling update of all services has come.
type roll struct {
	services []corpus.Service // with pods; their Pods are the members of the moment
	names    *corpus.Names
	chance   *rand.Rand
	order    []int // of services, those still to come in this turn
	old      []string
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

// next replaces one pod: of the service begun, or else of the next one.
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

// Rounds deals the stream out over n rounds of the same length, in the order of
// time. The times in each are since the round's beginning; the IDs stay. Set
// Length first where the timeline goes on after the stream.
func (s Stream) Rounds(n int) []Stream {
	rounds := make([]Stream, n)
	begin := func(round int) time.Duration {
		return time.Duration(float64(s.Length) * (float64(round) / float64(n)))
	}
	round := 0
	for _, change := range s.Changes {
		for round < n-1 && change.At >= begin(round+1) {
			round++
		}
		change.At -= begin(round)
		rounds[round].Changes = append(rounds[round].Changes, change)
	}
	for i := range rounds {
		rounds[i].Length = begin(i+1) - begin(i)
	}
	return rounds
}
