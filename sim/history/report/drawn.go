package report

import (
	"windtunnel.dev/sim/history/trend"
	"windtunnel.dev/sim/measure"
)

// drawn is the data from which the page's script draws the plots.
type drawn struct {
	Commits []drawnCommit `json:"commits"`
	Reports []string      `json:"reports"` // of runs; empty: not kept
	Series  []drawnSeries `json:"series"`
}

type drawnCommit struct {
	Name    string `json:"name"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
	Link    string `json:"link,omitempty"`
}

// drawnSeries is a series. Its points are columns: of the indexes of commits, values, and so on.
type drawnSeries struct {
	Row     string       `json:"row"`
	Name    string       `json:"name"` // of the subject and, if there are several, the setup
	Kind    measure.Kind `json:"kind"`
	Commits []int        `json:"commits"`
	Values  []float64    `json:"values"`
	Low     []float64    `json:"low"`
	High    []float64    `json:"high"`
	Runs    [][]int      `json:"runs"`
	Levels  []drawnLevel `json:"levels"`
	Steps   []drawnStep  `json:"steps"`
}

// drawnLevel is a level, from one commit to another.
type drawnLevel struct {
	From  int     `json:"from"`
	To    int     `json:"to"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// drawnStep is a step, after one commit and up to another.
type drawnStep struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Class string `json:"class"`
	Text  string `json:"text"`
}

func (d Document) drawn() drawn {
	all := drawn{Commits: []drawnCommit{}, Reports: []string{}, Series: []drawnSeries{}}
	for _, c := range d.Trend.Commits {
		all.Commits = append(all.Commits, drawnCommit{Name: shortHash(c.Hash), Date: c.Time.Format("2006-01-02"), Subject: c.Subject, Link: d.Web.Commit(c.Hash)})
	}
	for _, r := range d.Runs {
		all.Reports = append(all.Reports, reportOf(r))
	}
	for _, s := range d.Series {
		all.Series = append(all.Series, d.drawnSeries(s))
	}
	return all
}

func (d Document) drawnSeries(s trend.Series) drawnSeries {
	all := drawnSeries{Row: rowID(s.Scenario, s.Figure), Name: s.Subject, Kind: s.Kind, Steps: []drawnStep{}}
	if len(d.Setups) > 1 {
		all.Name += ", setup " + setupName(s.Setup)
	}
	for _, p := range s.Points {
		all.Commits, all.Runs = append(all.Commits, p.Commit), append(all.Runs, p.Runs)
		all.Values, all.Low, all.High = append(all.Values, digits(p.Value)), append(all.Low, digits(p.Low)), append(all.High, digits(p.High))
	}
	for _, l := range s.Levels {
		all.Levels = append(all.Levels, drawnLevel{
			From: s.Points[l.From].Commit, To: s.Points[l.To-1].Commit,
			Value: digits(l.Value), Low: digits(l.Low), High: digits(l.High),
		})
	}
	for _, step := range s.Steps {
		all.Steps = append(all.Steps, drawnStep{
			From: s.Points[step.First-1].Commit, To: s.Points[step.Last].Commit,
			Class: classes[step.Verdict], Text: string(step.Verdict) + ": " + Step{Kind: s.Kind, Step: step}.movement(),
		})
	}
	return all
}
