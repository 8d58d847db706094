package measure

import (
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// Bins have the width narrowest, or a width larger by a power of two if the rounds of a subject
// would otherwise need more than mostBins: a plot cannot show more.
const (
	narrowest = 100 * time.Millisecond
	mostBins  = 2000
)

// bins sorts the events of the rounds into bins along a timeline.
type bins struct {
	rounds    rounds
	width     time.Duration
	offsets   []int // index of the first bin of each round
	bins      []Bin
	latencies [][]time.Duration // by bin
	live      liveWorkers
	at        int // the bin up to which the number of generations is known
}

func newBins(r rounds) measurement {
	m := &bins{rounds: r, width: narrowest, live: liveWorkers{}}
	for r.total()/m.width > mostBins {
		m.width *= 2
	}
	for _, round := range r {
		m.offsets = append(m.offsets, len(m.bins))
		for at := round.Begin; at <= round.End; at += m.width {
			m.bins = append(m.bins, Bin{At: at})
			if at > never-m.width {
				break
			}
		}
	}
	m.latencies = make([][]time.Duration, len(m.bins))
	return m
}

// index returns the bin that contains t. t must be in a round.
func (m *bins) index(t time.Duration) int {
	round := m.rounds.at(t)
	return m.offsets[round] + int((t-m.rounds[round].Begin)/m.width)
}

func (m *bins) Add(e event.Event, in bool) {
	if e.Worker != nil {
		m.carry(e.At)
		m.live.update(*e.Worker)
	}
	if !in {
		return
	}
	i := m.index(e.At)
	bin := &m.bins[i]
	switch {
	case e.Request != nil && e.Request.Cause != event.OurCancel:
		m.request(i, e.Request)
	case e.Change != nil:
		bin.Changes++
	case e.Usage != nil:
		bin.RSS = max(bin.RSS, e.Usage.NginxRSS)
	case e.Worker != nil:
		bin.Generations = max(bin.Generations, m.live.generations())
	}
}

func (m *bins) request(i int, r *event.Request) {
	bin := &m.bins[i]
	bin.Requests++
	if r.Status != 0 && r.Lasts == 0 {
		m.latencies[i] = append(m.latencies[i], max(0, r.Lag+r.Took))
	}
	if r.Cause == "" {
		return
	}
	if bin.Failures == nil {
		bin.Failures = map[string]int{}
	}
	bin.Failures[string(r.Cause)]++
}

// carry sets the number of live generations in the bins that began before t.
func (m *bins) carry(t time.Duration) {
	alive := m.live.generations()
	for ; m.at < len(m.bins) && m.bins[m.at].At <= t; m.at++ {
		m.bins[m.at].Generations = max(m.bins[m.at].Generations, alive)
	}
}

func (m *bins) Result(_ *Subject, t *Timeline) {
	m.carry(never)
	for i, latencies := range m.latencies {
		if len(latencies) == 0 {
			continue
		}
		slices.Sort(latencies)
		bin := &m.bins[i]
		bin.P50, bin.P99, bin.Max = nearestRank(latencies, 50), nearestRank(latencies, 99), latencies[len(latencies)-1]
	}
	t.Width, t.Bins = m.width, m.bins
}

// nearestRank returns a percentile by the nearest-rank method: the smallest of the sorted values
// such that at least percent of the values are not larger.
func nearestRank(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}
