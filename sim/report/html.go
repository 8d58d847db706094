package report

import (
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/webpage"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

//go:embed assets
var assets embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"duration":    duration,
	"count":       count,
	"join":        strings.Join,
	"library":     webpage.PlotLibrary,
	"plots":       func(main string) template.JS { return Plots(asset(main)) },
	"plotStyle":   webpage.PlotStyle,
	"style":       Style,
	"cells":       cells,
	"generations": generationRows,
	"leg":         formatLeg,
	"plural":      plural.Of,
	"clock":       clock,
}).ParseFS(assets, "assets/page.html", "assets/answers.html", "assets/figures.html", "assets/moments.html"))

func asset(name string) string { return webpage.Asset(assets, name) }

// HTML writes a single page that needs no network and no other files.
func HTML(w io.Writer, result measure.Result, series measure.Series, checks []judge.Check) error {
	count := countChecks(checks)
	outcome, _ := judge.Of(result, checks)
	err := page.Execute(w, map[string]any{
		"Result":      result,
		"Series":      series,
		"Plotted":     plottedOf(series),
		"Drawn":       map[string]any{"subjects": draw(result, series)},
		"Drained":     slices.ContainsFunc(result.Subjects, func(s measure.Subject) bool { return len(s.Workers.Left) > 0 }),
		"Answers":     answersOf(result, series, checks),
		"Checks":      checks,
		"Met":         count[judge.Met],
		"Judged":      count[judge.Met] + count[judge.NotMet],
		"NotJudged":   count[judge.NotJudged],
		"NotApplied":  count[judge.NotApplicable],
		"Outcome":     outcome,
		"Void":        voidSubjects(result),
		"Rows":        rowsOf(result),
		"Worst":       slowestChanges(series),
		"Environment": environment(result.Run.Environment),
		"Remarks":     circumstances(result),
	})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

func cells(r row, subjects []measure.Subject) [][]string {
	var all [][]string
	for _, s := range subjects {
		all = append(all, r.lines(s))
	}
	return all
}

// mostListed is the number of slowest changes that a page lists for each subject.
const mostListed = 10

// slowestChanges returns the slowest changes by subject: first those that some worker did not
// serve, then by their last convergence. Changes that were undone come last: they have no time.
func slowestChanges(series measure.Series) map[string][]measure.Served {
	rank := map[measure.Fate]int{measure.Converged: 1, measure.Superseded: 2}
	all := map[string][]measure.Served{}
	for _, t := range series.Subjects {
		changes := slices.DeleteFunc(slices.Clone(t.Changes), func(c measure.Served) bool { return c.Fate == measure.Unwatched })
		slices.SortStableFunc(changes, func(a, b measure.Served) int {
			return cmp.Or(cmp.Compare(rank[a.Fate], rank[b.Fate]), cmp.Compare(b.Last, a.Last))
		})
		all[t.Name] = changes[:min(mostListed, len(changes))]
	}
	return all
}

// formatLeg formats a part of the time of a change, if it is known.
func formatLeg(d time.Duration) string {
	if d < 0 {
		return "–"
	}
	return duration(d)
}

// clock formats a time as the plots do: in measured time, with the rounds joined. A time between
// two rounds becomes the boundary between them.
func clock(t measure.Timeline, at time.Duration) string {
	var measured time.Duration
	for i, round := range t.Rounds {
		if i == 0 && at < round.Begin {
			return "before"
		}
		measured += max(0, min(at, round.End)-round.Begin)
	}
	return digits(measured.Seconds()) + " s"
}

// environment returns the environment, sorted by name.
func environment(env map[string]string) [][2]string {
	var all [][2]string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, [2]string{name, env[name]})
	}
	return all
}
