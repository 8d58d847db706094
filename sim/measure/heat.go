package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// HeatRows is the number of heat map rows per decade of latency. The latencies of a row are a
// quarter longer than those of the row below.
const HeatRows = 10

// mostColumns limits the columns of a heat map: with more, a column would be only a pixel or two
// wide.
const mostColumns = 300

// heat counts a lane's requests by time and latency.
type heat struct {
	rounds rounds
	width  time.Duration
	lanes  map[string]map[time.Duration]map[int]int // rows, by lane and start of the column
}

func newHeat(r rounds) measurement {
	return &heat{rounds: r, width: widthOf(r.total(), mostColumns), lanes: map[string]map[time.Duration]map[int]int{}}
}

func (m *heat) Add(e *event.Event, in bool) {
	if !in || e.Request == nil || !hasLatency(e.Request) {
		return
	}
	lane := m.lanes[e.Request.Lane]
	if lane == nil {
		lane = map[time.Duration]map[int]int{}
		m.lanes[e.Request.Lane] = lane
	}
	begin := m.rounds[m.rounds.at(e.At)].Begin
	at := begin + (e.At-begin)/m.width*m.width
	if lane[at] == nil {
		lane[at] = map[int]int{}
	}
	lane[at][heatRow(e.Request.Lag+e.Request.Took)]++
}

// hasLatency reports whether a heat map counts a request.
func hasLatency(r *event.Request) bool { return answered(r) && r.Cause != event.OurCancel }

// heatRow returns the row that contains a latency.
func heatRow(latency time.Duration) int {
	us := float64(latency) / float64(time.Microsecond)
	return int(HeatRows * math.Log10(max(us, 1)))
}

func (m *heat) Result(_ *Subject, t *Timeline) {
	for _, name := range slices.Sorted(maps.Keys(m.lanes)) {
		h := Heat{Lane: name, Width: m.width}
		for at, rows := range m.lanes[name] {
			h.Columns = append(h.Columns, Column{at, rows})
		}
		slices.SortFunc(h.Columns, func(a, b Column) int { return cmp.Compare(a.At, b.At) })
		t.Heat = append(t.Heat, h)
	}
}
