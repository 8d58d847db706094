package measure

import (
	"math"
	"time"

	"golang.org/x/perf/benchmath"

	"windtunnel.dev/sim/event"
)

const (
	// trendPoints is at most how many points a trend goes through: the medians of
	// as many equal stretches of the rounds, so that a peak is not a trend, and
	// neighbours depend little on each other.
	trendPoints = 240
	// fewestSlopes is what a median's 95 % confidence interval takes.
	fewestSlopes = 6
	trendLevel   = 0.95
)

// trends follow what the processes of the subject hold. What a controller uses at
// first, until its caches are full, is no trend: a tenth of the time is left out.
type trends struct {
	rounds                                             rounds
	nginxRSS, nginxPSS, nginxFiles, rssOurs, filesOurs points
}

// points are the values of each stretch.
type points [trendPoints][]float64

func newTrends(r rounds) measurement { return &trends{rounds: r} }

func (m *trends) Add(e event.Event, in bool) {
	if e.Usage == nil || !in || m.rounds.total() <= 0 {
		return
	}
	stretch := m.stretch(e.At)
	for _, value := range []struct {
		points *points
		is     int64
	}{
		{&m.nginxRSS, e.Usage.NginxRSS}, {&m.nginxPSS, e.Usage.NginxPSS}, {&m.nginxFiles, int64(e.Usage.NginxFiles)},
		{&m.rssOurs, e.Usage.ControllerRSS}, {&m.filesOurs, int64(e.Usage.ControllerFiles)},
	} {
		if value.is > 0 { // it was sampled
			value.points[stretch] = append(value.points[stretch], float64(value.is))
		}
	}
}

// stretch is that in which t lies, of the time of all rounds in a row.
func (m *trends) stretch(t time.Duration) int {
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
		ControllerRSS: m.rssOurs.trend(every), ControllerFiles: m.filesOurs.trend(every),
	}
}

// trend is Theil's incomplete method: the median of the slopes between points that
// lie half the time apart. Each point is in one slope only, so the slopes do not
// depend on each other, and the sign test bounds their median whatever their
// distribution (Theil 1950; Hollander, Wolfe, Chicken, Nonparametric Statistical
// Methods, section 9.2).
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
