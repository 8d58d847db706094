package measure

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// Reviews count by their outcome. Only those of the rounds count, and only answers have a time.
func TestReviews(t *testing.T) {
	m := newReviews(nil)
	for _, test := range []struct {
		review event.Review
		in     bool
	}{
		{event.Review{Took: time.Hour, Allowed: true}, false},
		{event.Review{Took: time.Millisecond, Allowed: true}, true},
		{event.Review{Took: 3 * time.Millisecond}, true},
		{event.Review{Took: time.Minute, Error: "context deadline exceeded"}, true},
	} {
		m.Add(&event.Event{Review: &test.review}, test.in)
	}
	var s Subject
	m.Result(&s, nil)
	if r := s.Reviews; r.Count != 3 || r.Denied != 1 || r.Failed != 1 || r.Took.N != 2 || r.Took.Max < 3*time.Millisecond || r.Took.Max > 4*time.Millisecond {
		t.Errorf("%+v", r)
	}
}
