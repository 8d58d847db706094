package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// Legs are the consecutive parts of the time that a change takes. An unknown leg is -1, such as
// those of a controller that does not report its syncs.
type Legs struct {
	Write  time.Duration `json:"write"`  // from the intent until the API had accepted the change
	Wait   time.Duration `json:"wait"`   // until the sync with the change began: the watch, the queue, the rate limit
	Sync   time.Duration `json:"sync"`   // duration of that sync: model, rendering, test, reload or POST
	Reach  time.Duration `json:"reach"`  // until the first worker served it
	Spread time.Duration `json:"spread"` // from the first worker to the last
}

// LegDurations summarises the legs of all changes that every worker served.
type LegDurations struct {
	Write  Durations `json:"write"`  // from the intent until the API had accepted the change
	Wait   Durations `json:"wait"`   // until the sync with the change began
	Sync   Durations `json:"sync"`   // duration of that sync
	Reach  Durations `json:"reach"`  // until the first worker served it
	Spread Durations `json:"spread"` // from the first worker to the last
}

// legs measures how the time of each change divides into its legs.
type legs struct {
	written map[int]time.Duration
	syncs   []*event.Event // in the order of their ends
}

func newLegs(rounds) measurement { return &legs{written: map[int]time.Duration{}} }

func (m *legs) Add(e *event.Event, _ bool) {
	switch {
	case e.Written != nil && e.Written.Error == "":
		m.written[e.Written.Change] = e.At
	case e.Sync != nil && e.Sync.Error == "" && e.Sync.Took > 0: // otherwise it is not known when it began
		m.syncs = append(m.syncs, e)
	}
}

// Result must run after converge, because it completes the changes.
func (m *legs) Result(s *Subject, t *Timeline) {
	write, wait, sync, reach, spread := newDurations(), newDurations(), newDurations(), newDurations(), newDurations()
	for i := range t.Changes {
		served := &t.Changes[i]
		served.Legs = m.of(*served)
		if served.Fate != Converged {
			continue
		}
		for _, leg := range []struct {
			all  *durations
			took time.Duration
		}{{write, served.Legs.Write}, {wait, served.Legs.Wait}, {sync, served.Legs.Sync}, {reach, served.Legs.Reach}, {spread, served.Legs.Spread}} {
			if leg.took != none {
				leg.all.add(leg.took)
			}
		}
	}
	s.Converge.Legs = LegDurations{write.result(), wait.result(), sync.result(), reach.result(), spread.result()}
}

func (m *legs) of(served Served) Legs {
	way := Legs{none, none, none, none, none}
	if served.First != none && served.Last != none {
		way.Spread = served.Last - served.First
	}
	written, ok := m.written[served.ID]
	if !ok {
		return way
	}
	way.Write = written - served.At
	if served.First == none {
		return way
	}
	first := served.At + served.First
	if carrier := m.carrier(written, first); carrier != nil {
		began := max(carrier.At-carrier.Sync.Took, written)
		way.Wait, way.Sync, way.Reach = began-written, carrier.At-began, max(first-carrier.At, 0)
	}
	return way
}

// carrier returns the sync that sent a change to nginx: the last sync that had ended when the first
// worker served the change, unless it ended before the change was written. A reload is visible to
// clients a little before the controller reports it as done. So if no sync that began after the write
// has ended, it is the sync that was in progress.
func (m *legs) carrier(written, first time.Duration) *event.Event {
	var last *event.Event
	whole := false // last began after the write
	for _, e := range m.syncs {
		began := e.At - e.Sync.Took
		if e.At < written || began > first || e.At > first && whole {
			continue
		}
		last, whole = e, began >= written
	}
	return last
}
