package measure

import (
	"maps"
	"slices"

	"windtunnel.dev/sim/event"
)

// heap follows the heap of a controller in Go. The samples at the edges may be outside the rounds; they
// count for the peak as well, so that no shown value exceeds it.
type heap struct {
	edges edges
	peak  int64
}

func newHeap(r rounds) measurement { return &heap{edges: edgesOf(r)} }

func (m *heap) Add(e *event.Event, in bool) {
	if e.Memory == nil || e.Memory.Heap == 0 {
		return
	}
	m.edges.add(e.At, e.Memory.Heap)
	if in {
		m.peak = max(m.peak, e.Memory.Heap)
	}
}

func (m *heap) Result(s *Subject, _ *Timeline) {
	if from, to := m.edges.from.value, m.edges.to.value; m.peak > 0 {
		s.Heap = Heap{Start: from, Peak: max(m.peak, from, to), End: to}
	}
}

// dictionaries tracks the shared dictionaries of nginx's Lua, by name.
type dictionaries struct {
	rounds rounds
	known  map[string]*dictionary
}

// dictionary tracks one dictionary. A reload may change its capacity; the last capacity counts.
type dictionary struct {
	free     edges
	capacity int64
	least    int64 // free; -1: none was seen in the rounds
}

func newDictionaries(r rounds) measurement {
	return &dictionaries{rounds: r, known: map[string]*dictionary{}}
}

func (m *dictionaries) Add(e *event.Event, in bool) {
	if e.Memory == nil {
		return
	}
	for name, now := range e.Memory.Dictionaries {
		d := m.known[name]
		if d == nil {
			d = &dictionary{free: edgesOf(m.rounds), least: -1}
			m.known[name] = d
		}
		d.free.add(e.At, now.Free)
		if !in {
			continue
		}
		d.capacity = now.Capacity
		if d.least < 0 || now.Free < d.least {
			d.least = now.Free
		}
	}
}

func (m *dictionaries) Result(s *Subject, _ *Timeline) {
	for _, name := range slices.Sorted(maps.Keys(m.known)) {
		if d := m.known[name]; d.least >= 0 {
			from, to := d.free.from.value, d.free.to.value
			s.Dictionaries = append(s.Dictionaries, Dictionary{
				Name: name, Capacity: d.capacity, StartFree: from, LeastFree: min(d.least, from, to), EndFree: to,
			})
		}
	}
}
