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
	rounds  rounds
	width   time.Duration
	offsets []int // index of the first bin of each round
	bins    []binned
	live    liveWorkers
	at      int // the bin up to which the number of generations is known
}

// binned is a bin with the latencies that it summarises.
type binned struct {
	Bin
	latencies []time.Duration
}

// widthOf returns the width of equal parts of a time such that there are at most so many of them.
func widthOf(total time.Duration, most int) time.Duration {
	width := narrowest
	for total/width > time.Duration(most) {
		width *= 2
	}
	return width
}

func newBins(r rounds) measurement {
	m := &bins{rounds: r, width: widthOf(r.total(), mostBins), live: liveWorkers{}}
	for _, round := range r {
		m.offsets = append(m.offsets, len(m.bins))
		for at := round.Begin; at <= round.End; at += m.width {
			m.bins = append(m.bins, binned{Bin: Bin{At: at}})
			if at > never-m.width {
				break
			}
		}
	}
	return m
}

// index returns the bin that contains t. t must be in a round.
func (m *bins) index(t time.Duration) int {
	round := m.rounds.at(t)
	return m.offsets[round] + int((t-m.rounds[round].Begin)/m.width)
}

func (m *bins) Add(e *event.Event, in bool) {
	if e.Worker != nil {
		m.carry(e.At)
		m.live.update(*e.Worker)
	}
	if !in {
		return
	}
	bin := &m.bins[m.index(e.At)]
	switch {
	case e.Request != nil && e.Request.Cause != event.OurCancel:
		bin.request(e.Request)
	case e.Change != nil:
		bin.Changes++
	case e.Usage != nil:
		bin.RSS = max(bin.RSS, e.Usage.NginxRSS)
	case e.Worker != nil:
		bin.Generations = max(bin.Generations, m.live.generations())
	}
}

func (b *binned) request(r *event.Request) {
	b.Requests++
	if answered(r) && r.Lasts == 0 {
		b.latencies = append(b.latencies, max(0, r.Lag+r.Took))
	}
	if r.Cause == "" {
		return
	}
	if b.Failures == nil {
		b.Failures = map[string]int{}
	}
	b.Failures[string(r.Cause)]++
}

// summarise returns the bin with the percentiles of its latencies.
func (b *binned) summarise() Bin {
	if len(b.latencies) > 0 {
		slices.Sort(b.latencies)
		b.P50, b.P99, b.Max = nearestRank(b.latencies, 50), nearestRank(b.latencies, 99), b.latencies[len(b.latencies)-1]
	}
	return b.Bin
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
	t.Width = m.width
	for i := range m.bins {
		t.Bins = append(t.Bins, m.bins[i].summarise())
	}
}

// nearestRank returns a percentile by the nearest-rank method: the smallest of the sorted values
// such that at least percent of the values are not larger.
func nearestRank(sorted []time.Duration, percent int) time.Duration {
	return sorted[(len(sorted)*percent+99)/100-1]
}
