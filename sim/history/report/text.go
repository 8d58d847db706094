package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/report"
)

// mostCommits is the number of commits that a text lists for a step.
const mostCommits = 12

// Text writes the steps for a terminal.
func Text(w io.Writer, d Document) error {
	paint := report.Painter(w)
	var out strings.Builder
	colour := map[Outcome]text.Color{SomeWorse: text.FgRed, NoneWorse: text.FgGreen, CannotSay: text.FgHiBlack}[d.Outcome]
	fmt.Fprintf(&out, "%s\n", paint(colour, d.headline()))
	for _, s := range d.failing() {
		fmt.Fprintf(&out, "\n%s: %s (%s)\n", paint(text.FgRed, string(s.Verdict)), report.PlainLine(s.sentence()), s.doubt())
		for _, c := range s.Commits[:min(len(s.Commits), mostCommits)] {
			fmt.Fprintf(&out, "  %s %s\n", shortHash(c.Hash), report.PlainLine(c.Subject))
		}
		if more := len(s.Commits) - mostCommits; more > 0 {
			fmt.Fprintf(&out, "  and %s\n", plural.Of(more, "more commit"))
		}
		if link := d.link(s); link != "" {
			fmt.Fprintf(&out, "  %s\n", link)
		}
	}
	if others := d.Steps[len(d.failing()):]; len(others) > 0 {
		fmt.Fprintf(&out, "\n%s\n", stepTable(others))
	}
	fmt.Fprintf(&out, "\n%s\n", d.basis())
	if len(d.failing()) > 0 {
		fmt.Fprintf(&out, "To accept a step, explain it in windtunnel.yaml:\n%s", d.failing()[0].example())
	}
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("writing the steps: %w", err)
	}
	return nil
}

func stepTable(steps []Step) string {
	t := report.NewTable()
	t.AppendHeader(table.Row{"", "step", "commits", ""})
	t.SetColumnConfigs([]table.ColumnConfig{
		{Number: 2, WidthMax: 37, WidthMaxEnforcer: text.WrapSoft}, {Number: 3, WidthMax: 24, WidthMaxEnforcer: text.WrapSoft}, {Number: 4, WidthMax: 20, WidthMaxEnforcer: text.WrapSoft},
	})
	for _, s := range steps {
		t.AppendRow(table.Row{string(s.Verdict), report.PlainLine(s.sentence()), report.PlainLine(s.where()), report.PlainLine(s.remark())})
	}
	return t.Render()
}

// basis describes the runs in which the steps were found.
func (d Document) basis() string {
	return fmt.Sprintf("%s of %s in %s; %s tested together.",
		plural.Of(len(d.Runs), "run"), plural.Of(len(d.Trend.Commits), "commit"), plural.Of(len(d.Setups), "setup"), plural.Of(d.Tests, "series", "series"))
}

// example returns an explanation of a step, in the format of windtunnel.yaml.
func (s Step) example() string {
	return fmt.Sprintf("  history:\n    explained:\n    - {commit: %s, figure: %s, scenario: %s, subject: %s, reason: …}\n",
		shortHash(s.To.Hash), s.Figure, s.Scenario, s.Subject)
}

// JSON writes the document.
func JSON(w io.Writer, d Document) error {
	if err := report.Indented(w, d); err != nil {
		return fmt.Errorf("writing the steps: %w", err)
	}
	return nil
}
