package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// faults contains the times at which faults were active, and what they struck.
type faults struct {
	rounds rounds
	spans  []Broken
	struck map[string]*Struck
	missed []string // one sentence each
}

func newFaults(r rounds) measurement { return &faults{rounds: r, struck: map[string]*Struck{}} }

func (m *faults) Add(e *event.Event, in bool) {
	if e.Fault == nil {
		return
	}
	open := slices.IndexFunc(m.spans, func(s Broken) bool { return s.Name == e.Fault.Name && !s.healed && e.At >= s.From })
	switch ends := e.Fault.Healed || e.Fault.Failed; {
	case !ends && in:
		m.spans = append(m.spans, Broken{Name: e.Fault.Name, From: e.At, Until: m.rounds[m.rounds.at(e.At)].End})
		m.of(e.Fault.Name).Times++
		m.of(e.Fault.Name).Untold++
	case !ends || open < 0:
	case e.Fault.Failed:
		m.end(e, m.spans[open].From)
		m.spans = slices.Delete(m.spans, open, open+1)
	default:
		m.end(e, m.spans[open].From)
		m.spans[open].Until, m.spans[open].healed = min(m.spans[open].Until, e.At), true
	}
}

func (m *faults) of(name string) *Struck {
	if m.struck[name] == nil {
		m.struck[name] = &Struck{Name: name}
	}
	return m.struck[name]
}

// end records the end of a fault.
func (m *faults) end(e *event.Event, from time.Duration) {
	s := m.of(e.Fault.Name)
	told := e.Fault.Struck
	if told != nil {
		s.Count, s.Of = s.Count+told.Count, told.Of
	}
	switch {
	case e.Fault.Failed && e.Fault.Absent, told != nil && told.Count == 0 && e.Fault.Absent:
		s.Absent++
	case e.Fault.Failed:
		s.Failed++
	case told == nil:
		return // the log is from an older version, without this value
	case told.Count == 0:
		s.Missed++
		m.missed = append(m.missed, fmt.Sprintf("fault %s struck no %s from %v to %v of the run", s.Name, s.Of, from.Round(time.Millisecond), e.At.Round(time.Millisecond)))
	}
	s.Untold--
}

func (m *faults) Result(s *Subject, t *Timeline) {
	s.Faults = len(m.spans)
	t.Faults = m.spans
	for _, struck := range m.struck {
		s.Struck = append(s.Struck, *struck)
	}
	slices.SortFunc(s.Struck, func(a, b Struck) int { return cmp.Compare(a.Name, b.Name) })
	s.Trouble = append(s.Trouble, m.missed...)
}

// endRound ends the faults that were still active when their round ended.
func (m *faults) endRound(at time.Duration) { m.spans = m.until(at) }

// until returns the times at which faults were active. Faults that are still active end now.
func (m *faults) until(now time.Duration) []Broken {
	spans := slices.Clone(m.spans)
	for i := range spans {
		spans[i].Until = min(spans[i].Until, now)
	}
	return spans
}
