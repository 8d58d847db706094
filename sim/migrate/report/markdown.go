package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/sim/report"
)

// Markdown writes the document for an issue or a pull request: the result in one line, the
// annotations, the differences, and the costs.
func Markdown(w io.Writer, d Document) error {
	parts := []string{
		"### Leaving " + markdown.Text(d.From) + ": " + markdown.Text(d.headline()),
		markdown.Text(d.asked()) + ".",
	}
	if len(d.Annotations) > 0 {
		parts = append(parts, report.MarkdownTable(d.annotationRows()))
	}
	for _, t := range d.To {
		if len(t.Differences) > 0 {
			parts = append(parts, markdownDifferences(d.From, t))
		}
	}
	if d.Costs != nil {
		parts = append(parts, "Costs: "+markdown.Text(d.Costs.Population)+".")
		for _, r := range d.Costs.Runs {
			if rows := r.rows(); rows != nil {
				parts = append(parts, report.MarkdownTable(r.header(), rows))
			}
		}
	}
	if remarks := d.remarks(); len(remarks) > 0 {
		parts = append(parts, markdownList(remarks))
	}
	if len(d.NotAsked) > 0 {
		var lines []string
		for _, o := range d.NotAsked {
			lines = append(lines, notAsked(o))
		}
		parts = append(parts, "<details><summary>not tested, or only in part</summary>\n\n"+markdownList(lines)+"\n\n</details>")
	}
	return write(w, strings.Join(parts, "\n\n")+"\n")
}

func markdownList(lines []string) string {
	var all []string
	for _, line := range lines {
		all = append(all, "- "+markdown.Text(line))
	}
	return strings.Join(all, "\n")
}

func markdownDifferences(from string, t Target) string {
	all := table.NewWriter()
	all.AppendHeader(table.Row{markdown.Text(t.Name) + ": effect", "request", "cause", markdown.Text(from), markdown.Text(t.Name), "other values"})
	for _, g := range t.groups() {
		for _, one := range g.Alike {
			request := markdown.Code(one.Step)
			if one.Also != "" {
				request += " " + one.Also
			}
			var details []string
			for _, v := range one.details() {
				details = append(details, fmt.Sprintf("%s: %s → %s", markdown.Text(v.What), markdown.Code(v.A), markdown.Code(v.B)))
			}
			all.AppendRow(table.Row{g.Effect.Title(), request, markdown.Text(one.Cause()), markdown.Code(one.From), markdown.Code(one.To), strings.Join(details, "; ")})
		}
	}
	return all.RenderMarkdown()
}
