// Package report shows the trend of a history: as a site of one page, as Markdown for a pull request,
// as text and as JSON. Its one rule: it shows the steps that it gets, and decides only which of them
// fail a check.
package report

import (
	"cmp"
	"slices"

	"windtunnel.dev/internal/changepoint"
	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/sim/history/trend"
	"windtunnel.dev/sim/measure"
)

// Outcome is the result of a check.
type Outcome string

// The outcomes.
const (
	SomeWorse Outcome = "worse"        // a recent step for the worse lasts, and has no explanation
	NoneWorse Outcome = "none worse"   // there is no such step
	CannotSay Outcome = "too few runs" // the series with the newest commit are too short to find a step
)

// Document is the content of all formats.
type Document struct {
	Outcome Outcome `json:"outcome"`
	Recent  int     `json:"recent"` // the number of newest commits that are checked
	Steps   []Step  `json:"steps"`  // those that fail the check first, then the newest first
	trend.Trend
	Web gitrepo.Web `json:"web,omitempty"` // the page of the repository
}

// Step is a step with its series and commits.
type Step struct {
	Scenario string       `json:"scenario"`
	Subject  string       `json:"subject"`
	Figure   string       `json:"figure"`
	Kind     measure.Kind `json:"kind"`
	Setup    int          `json:"setup"`               // index
	Of       string       `json:"setupName,omitempty"` // the name of the setup, if there are several
	trend.Step
	// From is the last measured commit before the step, and To the last one that may be the first after
	// it.
	From gitrepo.Commit `json:"from"`
	To   gitrepo.Commit `json:"to"`
	// Commits are those after From and up to To, the newest first: one or several of them made the step.
	// They are those of the repository or, if it is not available, those that were measured.
	Commits []gitrepo.Commit `json:"commits"`
	Recent  bool             `json:"recent"` // To is one of the newest commits, which are checked
}

// Fails reports whether the step fails the check.
func (s Step) Fails() bool {
	return s.Verdict == trend.Worse && s.Lasting && s.Recent && s.Explained == ""
}

// Options describe the repository, and which steps fail the check.
type Options struct {
	Recent int // the number of newest commits that are checked; 0: all
	Web    gitrepo.Web
	// Between returns the commits after one and up to another, the newest first; nil if they are not
	// known.
	Between func(from, to string) []gitrepo.Commit
}

// New returns the document of a trend.
func New(t trend.Trend, o Options) Document {
	d := Document{Outcome: NoneWorse, Recent: o.Recent, Steps: []Step{}, Trend: t, Web: o.Web}
	if d.Recent == 0 {
		d.Recent = len(t.Commits)
	}
	for _, series := range t.Series {
		for _, step := range series.Steps {
			d.Steps = append(d.Steps, d.step(series, step, o.Between))
		}
	}
	slices.SortStableFunc(d.Steps, func(a, b Step) int {
		if a.Fails() != b.Fails() {
			return ifElse(a.Fails(), -1, 1)
		}
		return cmp.Or(b.To.Time.Compare(a.To.Time), cmp.Compare(b.severity(), a.severity()))
	})
	switch {
	case len(d.Steps) > 0 && d.Steps[0].Fails():
		d.Outcome = SomeWorse
	case !d.conclusive():
		d.Outcome = CannotSay
	}
	return d
}

func ifElse[T any](condition bool, then, otherwise T) T {
	if condition {
		return then
	}
	return otherwise
}

// severity returns the size of a step relative to its budget.
func (s Step) severity() float64 { return s.Size() / max(s.Budget, 1e-9) }

func (d Document) step(series trend.Series, step trend.Step, between func(from, to string) []gitrepo.Commit) Step {
	first, last := series.Points[step.First-1].Commit, series.Points[step.Last].Commit
	s := Step{
		Scenario: series.Scenario, Subject: series.Subject, Figure: series.Figure, Kind: series.Kind, Setup: series.Setup,
		Step: step, From: d.Trend.Commits[first], To: d.Trend.Commits[last],
		Recent: last >= len(d.Trend.Commits)-d.Recent,
	}
	if len(d.Setups) > 1 {
		s.Of = setupName(series.Setup)
	}
	if between != nil {
		s.Commits = between(s.From.Hash, s.To.Hash)
	}
	if len(s.Commits) == 0 {
		s.Commits = slices.Clone(d.Trend.Commits[first+1 : last+1])
		slices.Reverse(s.Commits)
	}
	return s
}

// conclusive reports whether a series with the newest commit is long enough to find a step.
func (d Document) conclusive() bool {
	return slices.ContainsFunc(d.Series, func(s trend.Series) bool {
		n := len(s.Points)
		return n >= 2*changepoint.MinSize && s.Points[n-1].Commit == len(d.Trend.Commits)-1
	})
}

// failing returns the steps that fail the check.
func (d Document) failing() []Step {
	n := slices.IndexFunc(d.Steps, func(s Step) bool { return !s.Fails() })
	return d.Steps[:ifElse(n < 0, len(d.Steps), n)]
}
