package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/report"
)

//go:embed page.html
var pageFile embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style":   report.Style,
	"seconds": report.Seconds,
	"plural":  plural.Of,
	"badge":   badge,
	"seen":    seenIn,
	"blank":   func(n int) string { return cell(n, func(shown string) string { return shown }) },
	"number": func(counts Counts, outcome behave.Outcome) string {
		return cell(counts[outcome], func(shown string) string { return shown })
	},
}).ParseFS(pageFile, "page.html"))

// badge returns the style of an outcome.
func badge(o behave.Outcome) string {
	switch {
	case o == behave.Passed:
		return "good"
	case o.Bad():
		return "bad"
	}
	return "none"
}

// HTML writes a single page that needs no network and no other files.
func HTML(w io.Writer, d Document) error {
	err := page.Execute(w, map[string]any{
		"Document": d,
		"Outcomes": d.Outcomes.present(),
		"Topics":   d.topics(),
		"Covered":  d.covered(),
		"Changes":  Changes(d.Cases),
		"LiveNote": liveNote,
		"Bad":      slices.DeleteFunc(d.notable(), func(c Case) bool { return !c.Outcome.Bad() }),
		"Others":   slices.DeleteFunc(d.notable(), func(c Case) bool { return c.Outcome.Bad() }),
	})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
