// Package clock relates the clock of another machine to ours, as NTP does: from exchanges for which
// our clock shows the times of sending and receiving, and their clock shows a time in between. Its
// one rule: all times are arguments, and it never claims to know an offset better than its bound.
package clock

import (
	"cmp"
	"errors"
	"slices"
	"time"
)

// Exchange is a request for the time of another machine. Sent and Received are times of our clock,
// Theirs is the answer.
type Exchange struct {
	Sent, Received time.Duration
	Theirs         time.Duration
}

// Sample is the offset at one moment: when our clock showed Ours, theirs showed Ours + Offset, give or
// take Bound.
type Sample struct {
	Ours   time.Duration
	Offset time.Duration
	Bound  time.Duration
}

// ErrNoExchange means that no exchange gave an offset.
var ErrNoExchange = errors.New("no exchange with the other clock succeeded")

// Best returns the sample of the exchange that took the least time. Their clock was read at some time
// between sending and receiving, so half of that time bounds the error, however asymmetric the delays
// are. It returns ErrNoExchange if there is no exchange whose answer came after its request.
func Best(exchanges []Exchange) (Sample, error) {
	valid := slices.DeleteFunc(slices.Clone(exchanges), func(e Exchange) bool { return e.Received < e.Sent })
	if len(valid) == 0 {
		return Sample{}, ErrNoExchange
	}
	best := slices.MinFunc(valid, func(a, b Exchange) int { return cmp.Compare(a.Received-a.Sent, b.Received-b.Sent) })
	half := (best.Received - best.Sent) / 2
	middle := best.Sent + half
	return Sample{Ours: middle, Offset: best.Theirs - middle, Bound: best.Received - middle}, nil
}

// Track is the offset over time: samples in the order of Ours. Between two samples the offset changes
// linearly; before the first and after the last, it stays.
type Track []Sample

// Add returns the track with a further sample.
func (t Track) Add(s Sample) Track {
	t = append(slices.Clone(t), s)
	slices.SortStableFunc(t, func(a, b Sample) int { return cmp.Compare(a.Ours, b.Ours) })
	return t
}

// Ours returns the time of our clock at which theirs showed a time. The track must have a sample.
func (t Track) Ours(theirs time.Duration) time.Duration {
	next := slices.IndexFunc(t, func(s Sample) bool { return s.Ours+s.Offset > theirs })
	switch {
	case next < 0:
		return theirs - t[len(t)-1].Offset
	case next == 0:
		return theirs - t[0].Offset
	}
	a, b := t[next-1], t[next]
	span := (b.Ours + b.Offset) - (a.Ours + a.Offset)
	share := float64(theirs-a.Ours-a.Offset) / float64(span) // span > 0: theirs lies between the two
	return a.Ours + time.Duration(share*float64(b.Ours-a.Ours))
}

// Theirs returns what their clock showed, or will show, when ours shows a time. The track must have a
// sample.
func (t Track) Theirs(ours time.Duration) time.Duration {
	next := slices.IndexFunc(t, func(s Sample) bool { return s.Ours > ours })
	switch {
	case next < 0:
		return ours + t[len(t)-1].Offset
	case next == 0:
		return ours + t[0].Offset
	}
	a, b := t[next-1], t[next]
	share := float64(ours-a.Ours) / float64(b.Ours-a.Ours)
	return ours + a.Offset + time.Duration(share*float64(b.Offset-a.Offset))
}

// Bound returns the largest bound of the samples. A value between two samples is no less certain than
// the worse of the two, as long as the offset changes linearly between them.
func (t Track) Bound() time.Duration {
	bound := time.Duration(0)
	for _, s := range t {
		bound = max(bound, s.Bound)
	}
	return bound
}

// Drift returns how much faster their clock ran than ours between the first and the last sample, in
// parts per million; 0 if there is no time between them.
func (t Track) Drift() float64 {
	if len(t) == 0 {
		return 0
	}
	first, last := t[0], t[len(t)-1]
	if last.Ours == first.Ours {
		return 0
	}
	return 1e6 * float64(last.Offset-first.Offset) / float64(last.Ours-first.Ours)
}
