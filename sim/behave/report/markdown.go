package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/report"
)

// Markdown writes the result for a pull request: the outcome in one line, the failures, the cases
// that did not pass for another reason, and the outcomes by topic in a collapsed section.
func Markdown(w io.Writer, d Document) error {
	parts := []string{"### " + markdown.Text(d.headline())}
	if failures := markdownFailures(d); failures != "" {
		parts = append(parts, failures)
	}
	if others := markdownOthers(d); others != "" {
		parts = append(parts, others)
	}
	if live := markdownLive(Changes(d.Cases)); live != "" {
		parts = append(parts, live)
	}
	parts = append(parts,
		"<details><summary>by topic</summary>\n\n"+markdownTopics(d)+"\n\n</details>",
		fmt.Sprintf("<sub>subject %s, driver %s, %s</sub>", markdown.Text(d.Subject), markdown.Text(d.Driver), report.Seconds(d.Took.Seconds())))
	if _, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return fmt.Errorf("writing Markdown: %w", err)
	}
	return nil
}

func markdownFailures(d Document) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"case", "step", "what", "wanted", "got"})
	for _, c := range d.notable() {
		for _, f := range c.Failures {
			t.AppendRow(table.Row{markdown.Text(c.Case), markdown.Code(f.Action()), markdown.Text(f.Field), markdown.Code(f.Want), markdown.Code(f.Got)})
		}
	}
	if t.Length() == 0 {
		return ""
	}
	return t.RenderMarkdown()
}

// markdownOthers lists the cases that have a reason instead of failures.
func markdownOthers(d Document) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"case", "outcome", "why"})
	for _, c := range d.notable() {
		if c.Outcome != behave.Failed && c.Reason != "" {
			t.AppendRow(table.Row{markdown.Text(c.Case), string(c.Outcome), markdown.Text(c.Reason)})
		}
	}
	if t.Length() == 0 {
		return ""
	}
	return t.RenderMarkdown()
}

func markdownTopics(d Document) string {
	t := table.NewWriter()
	header := table.Row{"topic"}
	for _, outcome := range d.Outcomes.present() {
		header = append(header, string(outcome))
	}
	t.AppendHeader(header)
	for _, r := range d.topics() {
		line := table.Row{markdown.Text(r.Name)}
		for _, outcome := range d.Outcomes.present() {
			line = append(line, r.Counts[outcome])
		}
		t.AppendRow(line)
	}
	return t.RenderMarkdown()
}
