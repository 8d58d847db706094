package measure

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// The legs of a change add up to its last convergence.
func TestLegsAddUp(t *testing.T) {
	const ms = time.Millisecond
	m := newLegs(nil)
	sync := func(end, took time.Duration) event.Event {
		return event.Event{At: end, Sync: &event.Sync{Took: took}}
	}
	for _, e := range []event.Event{
		sync(100*ms, 50*ms), // ended before the change was written
		{At: 210 * ms, Written: &event.Written{Change: 1}},
		sync(1000*ms, 300*ms), // applied the change
		sync(5000*ms, 300*ms), // began after the change was served
	} {
		m.Add(&e, true)
	}
	timeline := Timeline{Changes: []Served{{ID: 1, At: 200 * ms, Fate: Converged, First: 1400 * ms, Last: 2000 * ms}}}
	var s Subject
	m.Result(&s, &timeline)
	want := Legs{Write: 10 * ms, Wait: 490 * ms, Sync: 300 * ms, Reach: 600 * ms, Spread: 600 * ms}
	if got := timeline.Changes[0].Legs; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if sum := want.Write + want.Wait + want.Sync + want.Reach + want.Spread; sum != timeline.Changes[0].Last {
		t.Errorf("they add up to %v", sum)
	}
	if s.Converge.Legs.Sync.N != 1 {
		t.Errorf("%+v", s.Converge.Legs)
	}
}

// A subject that does not report its syncs has only the legs that are visible from outside.
func TestLegsWithoutReportedSyncs(t *testing.T) {
	m := newLegs(nil)
	m.Add(&event.Event{At: 3, Written: &event.Written{Change: 1}}, true)
	timeline := Timeline{Changes: []Served{{ID: 1, At: 1, Fate: Converged, First: 5, Last: 7}, {ID: 2, At: 1, Fate: Failed, First: none, Last: none}}}
	m.Result(new(Subject), &timeline)
	if got, want := timeline.Changes[0].Legs, (Legs{2, none, none, none, 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := timeline.Changes[1].Legs, (Legs{none, none, none, none, none}); got != want {
		t.Errorf("a refused write: got %+v, want %+v", got, want)
	}
}

// A sync that is still in progress when a worker serves a change did not bring it, if an earlier sync
// with the change has ended. Without such a sync, it did.
func TestLegsOfASyncInProgress(t *testing.T) {
	const ms = time.Millisecond
	sync := func(end, took time.Duration) *event.Event {
		return &event.Event{At: end, Sync: &event.Sync{Took: took}}
	}
	change := Timeline{Changes: []Served{{ID: 1, At: 200 * ms, Fate: Converged, First: 800 * ms, Last: 900 * ms}}}
	for name, test := range map[string]struct {
		syncs []*event.Event
		want  Legs
	}{
		"an earlier sync has ended":       {[]*event.Event{sync(300*ms, 50*ms), sync(1010*ms, 20*ms)}, Legs{10 * ms, 40 * ms, 50 * ms, 700 * ms, 100 * ms}},
		"the earlier sync began too soon": {[]*event.Event{sync(220*ms, 50*ms), sync(1010*ms, 20*ms)}, Legs{10 * ms, 780 * ms, 20 * ms, 0, 100 * ms}},
	} {
		m := newLegs(nil)
		m.Add(&event.Event{At: 210 * ms, Written: &event.Written{Change: 1}}, true)
		for _, e := range test.syncs {
			m.Add(e, true)
		}
		m.Result(new(Subject), &change)
		if got := change.Changes[0].Legs; got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
