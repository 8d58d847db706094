package measure

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// Partial reports do not say whether a sync sent POSTs, so the number of POSTs is unknown.
func TestPartialReportsShowNoPosts(t *testing.T) {
	for name, test := range map[string]struct {
		syncs   []event.Sync
		visible bool
	}{
		"partial":  {[]event.Sync{{Partial: true, Reload: true}, {Partial: true}}, false},
		"complete": {[]event.Sync{{Took: 1}, {Took: 1, Posts: []event.Post{{Bytes: 3}}}}, true},
	} {
		m := newSyncs(nil)
		for _, sync := range test.syncs {
			m.Add(&event.Event{Sync: &sync}, true)
		}
		var s Subject
		m.Result(&s, nil)
		if s.Posts.Visible != test.visible || s.Syncs.Count != len(test.syncs) {
			t.Errorf("%s: %+v, %+v", name, s.Posts, s.Syncs)
		}
	}
}

// Only syncs that reloaded have phases: those of the others are zeros, and those of a failed one end early.
func TestPhasesOfReloads(t *testing.T) {
	m := newSyncs(nil)
	for i := range 3 {
		m.Add(&event.Event{Sync: &event.Sync{Reload: true, Phases: &event.Phases{
			Render: 1 * time.Millisecond, Test: time.Duration(i+1) * time.Millisecond, Signal: 3 * time.Millisecond, FirstWorker: 4 * time.Millisecond,
		}}}, true)
	}
	m.Add(&event.Event{Sync: &event.Sync{Reload: true, Phases: &event.Phases{Test: time.Hour}}}, false)
	m.Add(&event.Event{Sync: &event.Sync{Reload: true, Error: "nginx -t failed", Phases: &event.Phases{Test: time.Hour}}}, true)
	m.Add(&event.Event{Sync: &event.Sync{Phases: &event.Phases{Render: time.Hour}}}, true)
	var s Subject
	m.Result(&s, nil)
	phases := s.Syncs.Phases
	if phases.Render.N != 3 || phases.Test.Max != 3*time.Millisecond || phases.Test.P50 != 2*time.Millisecond ||
		phases.Signal.P50 != 3*time.Millisecond || phases.FirstWorker.P50 != 4*time.Millisecond || s.Syncs.Failed != 1 {
		t.Errorf("%+v", s.Syncs)
	}
}
