package measure

import (
	"math"
	"time"

	"golang.org/x/perf/benchmath"

	"windtunnel.dev/sim/event"
)

const (
	// trendPoints is the maximum number of points of a trend. Each point is the median of one of as
	// many equal stretches of the rounds, so that a peak is not a trend, and neighbouring points
	// are nearly independent.
	trendPoints = 240
	// fewestSlopes is the number of slopes needed for the 95 % confidence interval of a median.
	fewestSlopes = 6
	trendLevel   = 0.95
)

// trends follows the resources of the subject's processes. The initial growth of a controller,
// until its caches are full, is not a trend, so a tenth of the time is excluded.
type trends struct {
	rounds                                                         rounds
	nginxRSS, nginxPSS, nginxFiles, controllerRSS, controllerFiles points
	heap, dictionaries                                             points
}

// points contains the values of each stretch.
type points [trendPoints][]float64

func newTrends(r rounds) measurement { return &trends{rounds: r} }

func (m *trends) Add(e *event.Event, in bool) {
	if !in || m.rounds.total() <= 0 {
		return
	}
	if e.Usage != nil {
		m.add(&m.nginxRSS, e.At, e.Usage.NginxRSS)
		m.add(&m.nginxPSS, e.At, e.Usage.NginxPSS)
		m.add(&m.nginxFiles, e.At, int64(e.Usage.NginxFiles))
		m.add(&m.controllerRSS, e.At, e.Usage.ControllerRSS)
		m.add(&m.controllerFiles, e.At, int64(e.Usage.ControllerFiles))
	}
	if e.Memory != nil {
		m.add(&m.heap, e.At, e.Memory.Heap)
		var used int64
		for _, d := range e.Memory.Dictionaries {
			used += d.Capacity - d.Free
		}
		m.add(&m.dictionaries, e.At, used)
	}
}

// add adds a value to its stretch. 0 means that it was not sampled.
func (m *trends) add(to *points, at time.Duration, value int64) {
	if value > 0 {
		stretch := m.interval(at)
		to[stretch] = append(to[stretch], float64(value))
	}
}

// interval returns the index of the stretch that contains t, in the joined time of all rounds.
func (m *trends) interval(t time.Duration) int {
	var before time.Duration
	for _, r := range m.rounds {
		before += max(0, min(t, r.End)-r.Begin)
	}
	return min(int(trendPoints*(float64(before)/float64(m.rounds.total()))), trendPoints-1)
}

func (m *trends) Result(s *Subject, _ *Timeline) {
	every := m.rounds.total() / trendPoints
	s.Trend = Trends{
		NginxRSS: m.nginxRSS.trend(every), NginxPSS: m.nginxPSS.trend(every), NginxFiles: m.nginxFiles.trend(every),
		ControllerRSS: m.controllerRSS.trend(every), ControllerFiles: m.controllerFiles.trend(every),
		ControllerHeap: m.heap.trend(every), NginxDictionaries: m.dictionaries.trend(every),
	}
}

// trend computes Theil's incomplete method: the median of the slopes between points that are half
// the time apart. Each point belongs to one slope only, so the slopes are independent, and the sign
// test gives a confidence interval of their median for any distribution (Theil 1950; Hollander,
// Wolfe, Chicken, Nonparametric Statistical Methods, section 9.2).
func (p *points) trend(every time.Duration) Trend {
	var at, value []float64
	for i := trendPoints / 10; i < trendPoints; i++ {
		if len(p[i]) > 0 {
			at = append(at, float64(i)*every.Hours())
			value = append(value, median(p[i]))
		}
	}
	var slopes []float64
	for half := len(at) / 2; half > 0 && len(slopes) < half; {
		i, j := len(slopes), len(at)-half+len(slopes)
		slopes = append(slopes, (value[j]-value[i])/(at[j]-at[i]))
	}
	if len(slopes) < fewestSlopes || every <= 0 {
		return Trend{}
	}
	summary := summarise(slopes)
	if math.IsInf(summary.Lo, 0) || math.IsInf(summary.Hi, 0) {
		return Trend{}
	}
	return Trend{N: len(slopes), PerHour: summary.Center, Low: summary.Lo, High: summary.Hi}
}

func median(values []float64) float64 { return summarise(values).Center }

func summarise(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), trendLevel)
}
