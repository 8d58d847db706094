// Package trend finds steps in the figures of runs over commits. Its one rule: it compares only runs
// with the same setup. If another property of the machine changed at a step, the step is a change of
// environment, and does not count as worse.
//
// A regression may be so small, or creep in over so many commits, that a comparison of two adjacent
// commits only finds noise. So the steps are those of a change-point test over all commits (package
// internal/changepoint). Each commit has one value, because the runs of a commit are not
// independent.
package trend

import (
	"cmp"
	"slices"

	"windtunnel.dev/internal/changepoint"
	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/measure"
)

// Trend contains the series of a history.
type Trend struct {
	Commits []gitrepo.Commit    `json:"commits"` // that were measured, the oldest first
	Runs    []Run               `json:"runs"`    // in the order of their commits
	Setups  []map[string]string `json:"setups"`
	Series  []Series            `json:"series"`
	// Tests is the number of series that were tested together: the probability of a false step in any
	// of them is at most alpha.
	Tests int `json:"tests"`
}

// Run is a run of the history.
type Run struct {
	Commit      int               `json:"commit"` // index
	Setup       int               `json:"setup"`  // index
	Folder      string            `json:"folder"` // in the history
	Report      string            `json:"report,omitempty"`
	Environment map[string]string `json:"environment,omitempty"`
}

// Series contains the values of one figure of one subject over commits, measured with one setup.
type Series struct {
	Scenario string       `json:"scenario"`
	Subject  string       `json:"subject"`
	Figure   string       `json:"figure"`
	Kind     measure.Kind `json:"kind"`
	Setup    int          `json:"setup"` // index
	Points   []Point      `json:"points"`
	Levels   []Level      `json:"levels"` // one more than steps
	Steps    []Step       `json:"steps,omitempty"`
}

// Point is the value for a commit: that of the worst run for a count, and the median for other
// figures. Low to High is the 95 % confidence interval of the median, or the range of the runs if
// there are too few for one, or for a count.
type Point struct {
	Commit int     `json:"commit"` // index
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Runs   []int   `json:"runs"` // indexes
}

// Level is a part of a series without a step. Value is the median of its points; Low and High are as
// for a point.
type Level struct {
	From  int     `json:"from"` // index of its first point
	To    int     `json:"to"`   // index after its last point
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Alpha is the default probability of a false step in any series. It is smaller than that of a
// comparison, because a history is searched again whenever a commit is added.
const Alpha = 0.01

// Of returns the trend of runs, which are sorted as history.Store.Runs returns them. The options are
// those of a comparison; an unknown figure in them is an error.
func Of(runs []history.Run, o compare.Options) (Trend, error) {
	figures, err := compare.Select(o.Figures)
	if err != nil {
		return Trend{}, err
	}
	if o.Alpha == 0 {
		o.Alpha = Alpha
	}
	var t Trend
	g := grouping{trend: &t, runs: runs, setups: map[string]int{}}
	g.addRuns()
	for _, figure := range figures {
		t.Series = append(t.Series, g.seriesOf(figure)...)
	}
	slices.SortStableFunc(t.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Setup, b.Setup))
	})
	for _, s := range t.Series {
		if s.testable() {
			t.Tests++
		}
	}
	for i := range t.Series {
		t.findSteps(&t.Series[i], o)
	}
	return t, nil
}

// testable reports whether the series can have a significant step.
func (s Series) testable() bool {
	values := s.values()
	return len(values) >= 2*changepoint.MinSize && slices.Min(values) < slices.Max(values)
}

func (s Series) values() []float64 {
	values := make([]float64, len(s.Points))
	for i, p := range s.Points {
		values[i] = p.Value
	}
	return values
}

// Newest returns the last level of the series.
func (s Series) Newest() Level { return s.Levels[len(s.Levels)-1] }
