package measure

import (
	"cmp"
	"slices"

	"windtunnel.dev/sim/event"
)

// mostLayers bounds the generations that a plot tells apart.
const mostLayers = 6

// layers puts the memory of each generation on the time line of bins: PSS where
// it was sampled, which not every sample does.
type layers struct {
	born    map[generation]int // in which order they came
	samples []event.Event
}

func newLayers(rounds) measurement { return &layers{born: map[generation]int{}} }

func (m *layers) Add(e event.Event, in bool) {
	switch {
	case e.Worker != nil:
		of := generation{e.Worker.Master, e.Worker.Generation}
		if _, known := m.born[of]; !known {
			m.born[of] = len(m.born)
		}
	case e.Usage != nil && in:
		m.samples = append(m.samples, e)
	}
}

// Result comes after bins, whose bins it completes. Of several samples in a bin
// the greatest counts.
func (m *layers) Result(_ *Subject, t *Timeline) {
	t.Proportional = slices.ContainsFunc(m.samples, func(e event.Event) bool { return thorough(e.Usage) })
	i := 0
	for _, e := range m.samples {
		for i+1 < len(t.Bins) && t.Bins[i+1].At <= e.At {
			i++
		}
		if t.Proportional && !thorough(e.Usage) {
			continue
		}
		if found := m.of(e.Usage.ByGeneration, t.Proportional); sum(found) > sum(t.Bins[i].Layers) {
			t.Bins[i].Layers = found
		}
	}
}

func thorough(u *event.Usage) bool {
	return slices.ContainsFunc(u.ByGeneration, func(g event.Generation) bool { return g.PSS > 0 })
}

// of are the layers of one sample.
func (m *layers) of(all []event.Generation, proportional bool) []int64 {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b event.Generation) int {
		return cmp.Compare(m.born[generation{b.Master, b.Generation}], m.born[generation{a.Master, a.Generation}])
	})
	var found []int64
	for i, g := range all {
		value := g.RSS
		if proportional {
			value = g.PSS
		}
		if i < mostLayers {
			found = append(found, value)
		} else {
			found[mostLayers-1] += value
		}
	}
	return found
}

func sum(values []int64) (total int64) {
	for _, v := range values {
		total += v
	}
	return total
}
