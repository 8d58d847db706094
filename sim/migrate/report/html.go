package report

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/report"
)

//go:embed page.html
var pageFile embed.FS

var page = template.Must(template.New("page.html").Funcs(template.FuncMap{
	"style": report.Style, "plural": plural.Of, "notAsked": notAsked, "capital": report.Capital,
	"join": func(all []string) string { return strings.Join(all, ", ") },
}).ParseFS(pageFile, "page.html"))

// pageTarget is a controller as the page shows it.
type pageTarget struct {
	Target
	ID      string // of its section
	Verdict string
	Groups  []group
}

// pageRun is a kind of change as the page shows it.
type pageRun struct {
	CostRun
	Rows [][]string
}

// HTML writes a single page that needs no network and no other files.
func HTML(w io.Writer, d Document) error {
	var targets []pageTarget
	for n, t := range d.To {
		targets = append(targets, pageTarget{Target: t, ID: fmt.Sprintf("to-%d", n+1), Verdict: t.verdict(), Groups: t.groups()})
	}
	var runs []pageRun
	if d.Costs != nil {
		for _, r := range d.Costs.Runs {
			runs = append(runs, pageRun{r, r.rows()})
		}
	}
	err := page.Execute(w, map[string]any{
		"Document": d, "Headline": d.headline(), "Asked": d.asked(), "Targets": targets, "Runs": runs, "Remarks": d.remarks(),
	})
	if err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// Label is the first cell of a row, and Values are the others. They are for the page.
func (pageRun) Label(row []string) string    { return row[0] }
func (pageRun) Values(row []string) []string { return row[1:] }
