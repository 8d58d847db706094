package measure

import (
	"cmp"
	"slices"

	"windtunnel.dev/sim/event"
)

// mostLayers limits the generations that a plot distinguishes.
const mostLayers = 6

// layers adds the memory of each generation to the timeline's bins: PSS if it was sampled, which
// not every sample does.
type layers struct {
	born    births
	samples []*event.Event
}

func newLayers(rounds) measurement { return &layers{born: births{}} }

func (m *layers) Add(e *event.Event, _ bool) {
	switch {
	case e.Worker != nil:
		m.born.add(e.Worker)
	case e.Usage != nil:
		m.samples = append(m.samples, e)
	}
}

// Result must run after bins, because it completes the bins. If a bin has several samples, the
// largest one counts; a bin without samples has the last value before it.
func (m *layers) Result(_ *Subject, t *Timeline) {
	t.Proportional = slices.ContainsFunc(m.samples, func(e *event.Event) bool { return isThorough(e.Usage) })
	samples := slices.DeleteFunc(m.samples, func(e *event.Event) bool { return t.Proportional && !isThorough(e.Usage) })
	var last []int64
	for i := range t.Bins {
		bin := &t.Bins[i]
		for len(samples) > 0 && samples[0].At < bin.At {
			last, samples = m.born.layers(samples[0].Usage.ByGeneration, t.Proportional), samples[1:]
		}
		for len(samples) > 0 && samples[0].At < bin.At+t.Width {
			last, samples = m.born.layers(samples[0].Usage.ByGeneration, t.Proportional), samples[1:]
			if sum(last) > sum(bin.Layers) {
				bin.Layers = last
			}
		}
		if bin.Layers == nil {
			bin.Layers = last
		}
	}
}

func isThorough(u *event.Usage) bool {
	return slices.ContainsFunc(u.ByGeneration, func(g event.Generation) bool { return g.PSS > 0 })
}

// births is the order in which generations appeared.
type births map[generation]int

func (born births) add(w *event.Worker) {
	of := generation{w.Master, w.Generation}
	if _, known := born[of]; !known {
		born[of] = len(born)
	}
}

// layers returns the layers of one sample.
func (born births) layers(all []event.Generation, proportional bool) []int64 {
	all = slices.Clone(all)
	slices.SortFunc(all, func(x, y event.Generation) int {
		return cmp.Compare(born[generation{y.Master, y.Generation}], born[generation{x.Master, x.Generation}])
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
