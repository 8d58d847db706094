package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/webpage"
	"windtunnel.dev/sim/history/trend"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/rundir"
)

//go:embed assets
var assets embed.FS

func asset(name string) string { return webpage.Asset(assets, name) }

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style": webpage.Style, "plotStyle": webpage.PlotStyle, "library": webpage.PlotLibrary,
	"ownStyle": func() template.CSS { return template.CSS(asset("page.css")) },
	"script":   func() template.JS { return webpage.PlotScript(asset("page.js")) },
	"plural":   plural.Of, "short": shortHash, "setup": setupName, "class": func(v trend.Verdict) string { return classes[v] },
	"value": report.Value,
}).ParseFS(assets, "assets/page.html"))

// ReportPath returns the path, in the site, of the report of a run that keeps one in its folder.
func ReportPath(run trend.Run) string {
	return path.Join("runs", filepath.ToSlash(run.Folder), rundir.Page)
}

// reportOf returns the address of a run's report, relative to the site, or an empty text if the
// report is not kept.
func reportOf(run trend.Run) string {
	if run.Report == rundir.Page {
		return ReportPath(run)
	}
	return run.Report
}

// HTML writes the page of the site. It needs no network, and no other files but the reports of runs,
// at ReportPath.
func HTML(w io.Writer, d Document) error {
	err := page.Execute(w, map[string]any{
		"Document": d, "Headline": d.headline(), "Basis": d.basis(), "Title": d.title(),
		"Changes": d.changes(), "Scenarios": d.scenarios(), "Setups": d.setups(), "Commits": d.commits(),
		"Drawn": d.drawn(), "Worse": d.Outcome == SomeWorse, "Sure": d.Outcome != CannotSay,
	})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// title returns the name of the repository if it has a page, or else History.
func (d Document) title() string {
	if d.Web == "" {
		return "History"
	}
	_, name, _ := strings.Cut(string(d.Web), "://")
	return path.Base(name)
}

// change is a group of steps at the same commits.
type change struct {
	Step
	Link  string
	Steps []line
}

// line is a step of a group.
type line struct {
	Step
	Sentence, Remark, Doubt, Target string
}

// changes groups the steps by their commits, in the order of the first step of each group.
func (d Document) changes() []change {
	var all []change
	index := map[[2]string]int{}
	for _, s := range d.Steps {
		key := [2]string{s.From.Hash, s.To.Hash}
		at, known := index[key]
		if !known {
			at = len(all)
			index[key] = at
			all = append(all, change{Step: s, Link: d.link(s)})
		}
		all[at].Steps = append(all[at].Steps, line{s, s.sentence(), s.remark(), s.doubt(), rowID(s.Scenario, s.Figure)})
	}
	return all
}

// CommitLink returns the page of a commit.
func (d Document) CommitLink(hash string) string { return d.Web.Commit(hash) }

// scenarioTable is the table of a scenario: a row per figure, a column per subject and setup.
type scenarioTable struct {
	Name    string
	Columns []column
	Rows    []row
}

type column struct {
	Subject string
	Setup   int
	Shown   bool // the setup, because there are several
}

type row struct {
	ID, Figure string
	Cells      []cell
}

// cell is a series in the table; nil: the subject has no such figure.
type cell struct {
	Series *trend.Series
	Spark  template.HTML
	Newest string
	Level  string // with its interval
	Step   *trend.Step
	Change string
}

func rowID(scenario, figure string) string { return scenario + "/" + figure }

// scenarios returns the tables, in the order of the series, which are sorted by scenario and column.
func (d Document) scenarios() []scenarioTable {
	var all []scenarioTable
	for _, s := range d.Series {
		if n := len(all); n == 0 || all[n-1].Name != s.Scenario {
			all = append(all, scenarioTable{Name: s.Scenario})
		}
		t := &all[len(all)-1]
		if !slices.ContainsFunc(t.Columns, func(c column) bool { return c.Subject == s.Subject && c.Setup == s.Setup }) {
			t.Columns = append(t.Columns, column{Subject: s.Subject, Setup: s.Setup, Shown: len(d.Setups) > 1})
		}
	}
	for i := range all {
		d.fill(&all[i])
	}
	return all
}

// fill adds the rows of a table, in the order of figures.
func (d Document) fill(t *scenarioTable) {
	rows := map[string]*row{}
	for i, s := range d.Series {
		if s.Scenario != t.Name {
			continue
		}
		r, known := rows[s.Figure]
		if !known {
			r = &row{ID: rowID(t.Name, s.Figure), Figure: s.Figure, Cells: make([]cell, len(t.Columns))}
			rows[s.Figure] = r
		}
		at := slices.IndexFunc(t.Columns, func(c column) bool { return c.Subject == s.Subject && c.Setup == s.Setup })
		r.Cells[at] = d.cell(&d.Series[i])
	}
	for _, figure := range measure.Figures() {
		if r, known := rows[figure.Name]; known {
			t.Rows = append(t.Rows, *r)
		}
	}
}

func (d Document) cell(s *trend.Series) cell {
	level := s.Newest()
	c := cell{
		Series: s, Spark: sparkline(*s, len(d.Trend.Commits)),
		Newest: report.Value(s.Kind, s.Points[len(s.Points)-1].Value),
		Level:  fmt.Sprintf("level %s (%s)", report.Value(s.Kind, level.Value), interval(*s, level)),
	}
	if n := len(s.Steps); n > 0 {
		c.Step = &s.Steps[n-1]
		c.Change = Step{Step: *c.Step}.percent()
	}
	return c
}

// machine is a setup in the page's list.
type machine struct {
	Name       string
	Properties [][2]string // names and values
}

func (d Document) setups() []machine {
	var all []machine
	for i, setup := range d.Setups {
		m := machine{Name: setupName(i)}
		for _, name := range slices.Sorted(maps.Keys(setup)) {
			m.Properties = append(m.Properties, [2]string{name, setup[name]})
		}
		all = append(all, m)
	}
	return all
}

// measuredCommit is a commit with its runs in the page's list.
type measuredCommit struct {
	Hash, Subject, Date, Link string
	Runs                      []measuredRun
}

type measuredRun struct{ Name, Setup, Report, Environment string }

// commits returns the commits with their runs, the newest first.
func (d Document) commits() []measuredCommit {
	all := make([]measuredCommit, len(d.Trend.Commits))
	for i, c := range d.Trend.Commits {
		all[i] = measuredCommit{Hash: c.Hash, Subject: c.Subject, Date: c.Time.Format("2006-01-02"), Link: d.Web.Commit(c.Hash)}
	}
	for _, r := range d.Runs {
		all[r.Commit].Runs = append(all[r.Commit].Runs, measuredRun{
			Name: filepath.ToSlash(filepath.Dir(r.Folder)), Setup: setupName(r.Setup), Report: reportOf(r), Environment: properties(r.Environment),
		})
	}
	slices.Reverse(all)
	return all
}

func properties(all map[string]string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		texts = append(texts, name+" "+all[name])
	}
	return strings.Join(texts, ", ")
}

// digits rounds a number to the five significant digits that a plot can show.
func digits(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 5, 64), 64)
	if err != nil {
		return x
	}
	return short
}
