package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// Legs are the parts of a change's way, one after the other. A leg that cannot
// be told is -1: those of the controller, where it does not tell of its syncs.
type Legs struct {
	Write  time.Duration `json:"write"`  // from intent until the API had taken it
	Wait   time.Duration `json:"wait"`   // until the sync that brought it began: the watch, the queue, the rate limit
	Sync   time.Duration `json:"sync"`   // of that sync: model, rendering, test, reload or POST
	Reach  time.Duration `json:"reach"`  // until the first worker served it
	Spread time.Duration `json:"spread"` // from the first worker to the last
}

// Way summarises the legs of all changes that every worker served.
type Way struct {
	Write  Durations `json:"write"`
	Wait   Durations `json:"wait"`
	Sync   Durations `json:"sync"`
	Reach  Durations `json:"reach"`
	Spread Durations `json:"spread"`
}

// legs tells where the time of each change went.
type legs struct {
	written map[int]time.Duration
	syncs   []event.Event // by their end
}

func newLegs(rounds) measurement { return &legs{written: map[int]time.Duration{}} }

func (m *legs) Add(e event.Event, _ bool) {
	switch {
	case e.Written != nil && e.Written.Error == "":
		m.written[e.Written.Change] = e.At
	case e.Sync != nil && e.Sync.Error == "":
		m.syncs = append(m.syncs, e)
	}
}

// Result comes after converge, whose changes it completes.
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
	s.Converge.Way = Way{write.result(), wait.result(), sync.result(), reach.result(), spread.result()}
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

// carrier is the sync that brought a change to nginx: the last that was over
// when the first worker served it, if that was not before it was written. A
// reload is seen to serve a little before the controller calls it done: then it
// is the sync that was under way.
func (m *legs) carrier(written, first time.Duration) *event.Event {
	var last *event.Event
	for i := range m.syncs {
		if e := &m.syncs[i]; e.At >= written && e.At-e.Sync.Took <= first {
			last = e
		}
	}
	return last
}
