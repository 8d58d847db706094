package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// departed counts nginx's own 5xx responses while nginx could still use a pod that was gone:
// requests to a service from the time when one of its pods, removed by a change, stopped serving,
// until every worker served that change. The requests between nginx and the pods are not observed,
// so this is the likely cause, not a proof.
type departed struct {
	rounds  rounds
	gone    map[string]time.Duration // when a pod stopped serving
	changes []leaving
	failed  []nginxFailure
}

// leaving is a change that removes pods from a service.
type leaving struct {
	*event.Change
	at time.Duration
}

// nginxFailure is a request to which nginx itself responded with an error.
type nginxFailure struct {
	lane, service string
	sent, until   time.Duration
}

func newDeparted(r rounds) measurement { return &departed{rounds: r, gone: map[string]time.Duration{}} }

func (m *departed) Add(e *event.Event, in bool) {
	switch r := e.Request; {
	case e.Pod != nil && e.Pod.State == "gone":
		m.gone[e.Pod.Name] = e.At
	case e.Change != nil && len(e.Change.Removed) > 0:
		m.changes = append(m.changes, leaving{e.Change, e.At})
	case r != nil && in && r.Cause == event.NginxError:
		m.failed = append(m.failed, nginxFailure{r.Lane, r.Service, e.At + r.Lag, e.At + r.Lag + r.Took})
	}
}

func (m *departed) Result(s *Subject, t *Timeline) {
	stale := m.stale(t.Changes)
	for _, f := range m.failed {
		for _, w := range stale[f.service] {
			if w.from <= f.until && f.sent <= w.until {
				s.Requests.Departed++
				s.lane(f.lane).Departed++
				break
			}
		}
	}
}

// stale returns, by service, the times in which some worker may still have used a pod that was
// gone.
func (m *departed) stale(changes []Served) map[string][]window {
	last := map[int]time.Duration{}
	for _, c := range changes {
		last[c.ID] = c.Last
	}
	all := map[string][]window{}
	for _, c := range m.changes {
		until := m.end(c.at) // end of its round, unless all workers served it earlier
		if took, ok := last[c.ID]; ok && took != none {
			until = c.at + took
		}
		for _, pod := range c.Removed {
			if gone, ok := m.gone[pod]; ok && gone <= until {
				all[c.Service] = append(all[c.Service], window{max(gone, c.at), until})
			}
		}
	}
	return all
}

// window is a time range, including both ends.
type window struct{ from, until time.Duration }

// end returns the end of the round that contains a time. Outside of rounds, it returns the time
// itself.
func (m *departed) end(at time.Duration) time.Duration {
	if i := m.rounds.at(at); i >= 0 {
		return m.rounds[i].End
	}
	return at
}

// lane returns the lane with this name. It returns an empty one if the lane had no requests.
func (s *Subject) lane(name string) *Lane {
	for i := range s.Lanes {
		if s.Lanes[i].Name == name {
			return &s.Lanes[i]
		}
	}
	return new(Lane)
}
