package measure

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// growingBins are the bins of a run in progress, up to the latest event.
type growingBins struct {
	width        time.Duration
	bins         []numbered[binned]
	born         births
	layers       []int64 // of the last sample that counts
	proportional bool    // PSS was sampled, so that samples without it do not count
}

func newGrowingBins(width time.Duration) *growingBins {
	return &growingBins{width: width, born: births{}}
}

// add processes an event. generations counts the generations that are alive.
func (g *growingBins) add(e *event.Event, in bool, rs rounds, generations func() int, version int) {
	if e.Worker != nil {
		g.born.add(e.Worker)
	}
	counts := e.Usage != nil && g.sample(e.Usage)
	if !in {
		return
	}
	bin := g.at(e.At, rs[rs.at(e.At)], generations, version)
	switch {
	case e.Request != nil && e.Request.Cause != event.OurCancel:
		bin.value.request(e.Request)
	case e.Change != nil:
		bin.value.Changes++
	case e.Usage != nil:
		bin.value.RSS = max(bin.value.RSS, e.Usage.NginxRSS)
		if counts && sum(g.layers) > sum(bin.value.Layers) {
			bin.value.Layers = g.layers
		}
	case e.Worker != nil:
		bin.value.Generations = max(bin.value.Generations, generations())
	default:
		return
	}
	bin.version = version
}

// sample reads the layers of a sample, and reports whether they count.
func (g *growingBins) sample(u *event.Usage) bool {
	thorough := isThorough(u)
	if g.proportional && !thorough {
		return false
	}
	if thorough && !g.proportional {
		g.proportional = true
		for i := range g.bins { // they have RSS
			g.bins[i].value.Layers = nil
		}
	}
	g.layers = g.born.layers(u.ByGeneration, thorough)
	return true
}

// at returns the bin that contains a time of a round. It first adds the missing bins up to that one.
func (g *growingBins) at(t time.Duration, r Round, generations func() int, version int) *numbered[binned] {
	at := r.Begin + (t-r.Begin)/g.width*g.width
	for len(g.bins) == 0 || g.bins[len(g.bins)-1].value.At < at {
		next := r.Begin
		if last := len(g.bins) - 1; last >= 0 && g.bins[last].value.At >= r.Begin {
			next = g.bins[last].value.At + g.width
		}
		g.bins = append(g.bins, numbered[binned]{binned{Bin: Bin{At: next, Generations: generations(), Layers: g.layers}}, version})
	}
	i, _ := slices.BinarySearchFunc(g.bins, at, func(b numbered[binned], at time.Duration) int { return cmp.Compare(b.value.At, at) })
	return &g.bins[i]
}

// since returns copies of the bins that changed after a version of the state.
func (g *growingBins) since(version int) (changed []Bin) {
	for i := range g.bins {
		if g.bins[i].version <= version {
			continue
		}
		bin := g.bins[i].value.summarise()
		bin.Failures = maps.Clone(bin.Failures)
		changed = append(changed, bin)
	}
	return changed
}

// growingHeat is the heat map of a lane in a run in progress.
type growingHeat struct {
	width   time.Duration
	columns map[time.Duration]*numbered[Column]
}

func (h *growingHeat) add(e *event.Event, rs rounds, version int) {
	begin := rs[rs.at(e.At)].Begin
	at := begin + (e.At-begin)/h.width*h.width
	if h.columns[at] == nil {
		h.columns[at] = &numbered[Column]{value: Column{at, map[int]int{}}}
	}
	h.columns[at].value.Rows[heatRow(e.Request.Lag+e.Request.Took)]++
	h.columns[at].version = version
}

func (h *growingHeat) since(version int) (changed []Column) {
	for _, c := range h.columns {
		if c.version > version {
			changed = append(changed, Column{c.value.At, maps.Clone(c.value.Rows)})
		}
	}
	slices.SortFunc(changed, func(a, b Column) int { return cmp.Compare(a.At, b.At) })
	return changed
}
