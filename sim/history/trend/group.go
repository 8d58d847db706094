package trend

import (
	"math"
	"slices"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/measure"
)

// grouping sorts the values of runs into series.
type grouping struct {
	trend  *Trend
	runs   []history.Run
	setups map[string]int // by history.Entry.SetupID
}

// addRuns adds commits, setups and runs to the trend.
func (g *grouping) addRuns() {
	for i, r := range g.runs {
		if i == 0 || g.runs[i-1].Commit.Hash != r.Commit.Hash {
			g.trend.Commits = append(g.trend.Commits, r.Commit)
		}
		setup, known := g.setups[r.SetupID()]
		if !known {
			setup = len(g.trend.Setups)
			g.setups[r.SetupID()] = setup
			g.trend.Setups = append(g.trend.Setups, r.Setup)
		}
		g.trend.Runs = append(g.trend.Runs, Run{
			Commit: len(g.trend.Commits) - 1, Setup: setup,
			Folder: r.Folder, Report: r.Report, Environment: r.Environment,
		})
	}
}

// seriesOf returns the series of a figure, in the order in which they begin.
func (g *grouping) seriesOf(figure measure.Figure) []Series {
	type key struct {
		scenario, subject string
		setup             int
	}
	var all []Series
	index := map[key]int{}
	for i, r := range g.runs {
		for subject, figures := range r.Figures {
			if _, measured := figures[figure.Name]; !measured {
				continue
			}
			k := key{r.Scenario, subject, g.trend.Runs[i].Setup}
			at, known := index[k]
			if !known {
				at = len(all)
				index[k] = at
				all = append(all, Series{Scenario: r.Scenario, Subject: subject, Figure: figure.Name, Kind: figure.Kind, Setup: k.setup})
			}
			all[at].add(g.trend.Runs[i].Commit, i)
		}
	}
	for i := range all {
		for j := range all[i].Points {
			g.evaluate(&all[i].Points[j], all[i])
		}
	}
	return all
}

// add adds a run to the point of its commit, which is the last one or a new one.
func (s *Series) add(commit, run int) {
	if n := len(s.Points); n == 0 || s.Points[n-1].Commit != commit {
		s.Points = append(s.Points, Point{Commit: commit})
	}
	last := &s.Points[len(s.Points)-1]
	last.Runs = append(last.Runs, run)
}

// evaluate sets the value of a point and its interval.
func (g *grouping) evaluate(p *Point, s Series) {
	var values []float64
	for _, run := range p.Runs {
		values = append(values, g.runs[run].Figures[s.Subject][s.Figure])
	}
	if s.Kind.Varies() {
		p.Value, p.Low, p.High = median(values)
	} else {
		p.Value, p.Low, p.High = slices.Max(values), slices.Min(values), slices.Max(values)
	}
}

// median returns the median of values and its 95 % confidence interval, or the range of the values if
// there are too few for one.
func median(values []float64) (center, low, high float64) {
	center, low, high = compare.Median(values)
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		low, high = slices.Min(values), slices.Max(values)
	}
	return center, low, high
}
