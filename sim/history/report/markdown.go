package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/sim/history/trend"
	"windtunnel.dev/sim/report"
)

// Markdown writes a summary for a pull request: the verdict, the recent steps, and the values of the
// newest commit beside the levels that they belong to.
func Markdown(w io.Writer, d Document) error {
	parts := []string{fmt.Sprintf("### History: %s", d.headline()), d.verdict()}
	var recent []Step
	for _, s := range d.Steps {
		if s.Recent {
			recent = append(recent, s)
		}
	}
	if len(recent) > 0 {
		parts = append(parts, d.markdownSteps(recent))
	}
	if newest := d.markdownNewest(); newest != "" {
		parts = append(parts, newest)
	}
	parts = append(parts, "<sub>"+markdown.Text(d.basis())+" A step of a figure that varies shows when about three to five commits after it are measured.</sub>")
	if _, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return fmt.Errorf("writing Markdown: %w", err)
	}
	return nil
}

// verdict returns the outcome of the check as a sentence.
func (d Document) verdict() string {
	switch d.Outcome {
	case SomeWorse:
		worst := d.failing()[0]
		for _, s := range d.failing() {
			if s.severity() > worst.severity() {
				worst = s
			}
		}
		return fmt.Sprintf("**%s**, with %s.", markdown.Text(worst.sentence()), d.markdownWhere(worst))
	case CannotSay:
		return "No step can be found in so few commits."
	}
	return "Nothing that was measured has become worse without an explanation."
}

// markdownWhere names the commits of a step, with a link.
func (d Document) markdownWhere(s Step) string {
	text := markdown.Text(s.where())
	if link := d.link(s); link != "" {
		return fmt.Sprintf("[%s](<%s>)", text, link)
	}
	return text
}

func (d Document) markdownSteps(steps []Step) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"verdict", "scenario", "setup", "subject", "figure", "before", "after", "change", "commits", "remark"})
	for _, s := range steps {
		verdict := string(s.Verdict)
		if s.Fails() {
			verdict = "**" + verdict + "**"
		}
		t.AppendRow(table.Row{
			verdict, markdown.Text(s.Scenario), setupName(s.Setup), markdown.Text(s.Subject), markdown.Text(s.Figure),
			s.show(s.Before), s.show(s.After), s.percent(), d.markdownWhere(s), markdown.Text(s.remark()),
		})
	}
	return t.RenderMarkdown()
}

// markdownNewest returns the values of the newest commit as a table, or "" if there are none.
func (d Document) markdownNewest() string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"scenario", "setup", "subject", "figure", "newest", "level", "95 % interval", "commits"})
	for _, s := range d.Series {
		point, level := s.Points[len(s.Points)-1], s.Newest()
		if point.Commit != len(d.Trend.Commits)-1 {
			continue
		}
		t.AppendRow(table.Row{
			markdown.Text(s.Scenario), setupName(s.Setup), markdown.Text(s.Subject), markdown.Text(s.Figure),
			report.Value(s.Kind, point.Value), report.Value(s.Kind, level.Value), interval(s, level), level.To - level.From,
		})
	}
	if t.Length() == 0 {
		return ""
	}
	return fmt.Sprintf("<details><summary>The newest commit, %s</summary>\n\n%s\n\n</details>",
		markdown.Text(named(d.Trend.Commits[len(d.Trend.Commits)-1])), t.RenderMarkdown())
}

func interval(s trend.Series, l trend.Level) string {
	return report.Value(s.Kind, l.Low) + " to " + report.Value(s.Kind, l.High)
}
