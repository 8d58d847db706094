package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"

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
	"number": func(counts Counts, outcome behave.Outcome) string {
		return cell(counts[outcome], func(n string) string { return n })
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
		"Notable":  d.notable(),
	})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
