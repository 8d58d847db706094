package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// Table writes the comparison for a terminal.
func Table(w io.Writer, c Comparison) error { return write(w, c, table.Writer.Render) }

// Markdown writes the comparison for a pull request.
func Markdown(w io.Writer, c Comparison) error {
	if _, err := fmt.Fprintf(w, "### %s: %s\n\n", c.Scenario, c.headline()); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return write(w, c, table.Writer.RenderMarkdown)
}

// JSON writes the comparison to be parsed.
func JSON(w io.Writer, c Comparison) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	if err := out.Encode(c); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

func write(w io.Writer, c Comparison, render func(table.Writer) string) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.AppendHeader(table.Row{"subject", "figure", "base", "head", "change", "p", "detectable", ""})
	for _, r := range c.Rows {
		t.AppendRow(table.Row{r.Subject, r.Figure, r.show(r.Base), r.show(r.Head), r.showChange(), r.showP(), r.showDetectable(), r.Verdict})
	}
	if _, err := fmt.Fprintf(w, "%s\n\n%s\n", render(t), strings.Join(c.notes(), "\n")); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

func (c Comparison) headline() string {
	switch worse := len(c.Worse()); {
	case c.Void():
		return "void, base differs from itself"
	case worse == 1:
		return "1 figure is worse"
	case worse > 1:
		return fmt.Sprintf("%d figures are worse", worse)
	}
	return "no figure is worse"
}

// notes say how to read the rows, and whether to believe them.
func (c Comparison) notes() []string {
	notes := []string{c.headline() + "."}
	for _, r := range c.Control {
		notes = append(notes, fmt.Sprintf("Control: %s of %s differs between base's own runs (%s and %s, p = %.3f): the machine was not the same throughout.",
			r.Figure, r.Subject, r.show(r.Base), r.show(r.Head), r.P))
	}
	if !c.Controlled {
		notes = append(notes, fmt.Sprintf("No control: to compare base with itself takes %d base runs.", 2*fewest))
	}
	return append(notes,
		"Counts: the worst run of each side, against a budget. Times and memory: medians, Mann-Whitney with Holm's correction and a floor;",
		"~ is: chance explains it, or it is too small to matter. Detectable is the least change that these runs could have shown.")
}

func (r Row) show(value float64) string {
	switch r.Kind {
	case measure.Time:
		return report.Seconds(value)
	case measure.Bytes:
		return report.Bytes(value)
	}
	return fmt.Sprint(value)
}

func (r Row) showChange() string {
	if r.Base == 0 && r.Head == 0 || r.Verdict == NoData {
		return ""
	}
	if r.Base == 0 {
		return "from 0"
	}
	return fmt.Sprintf("%+.1f %%", 100*r.Change)
}

func (r Row) showP() string {
	switch {
	case r.Kind == measure.Count:
		return fmt.Sprintf("budget +%.4g", r.Budget)
	case r.Verdict == TooFew || r.Verdict == NoData:
		return ""
	}
	p := fmt.Sprintf("%.3f", r.P)
	if r.P < 0.001 {
		p = "<0.001"
	}
	return fmt.Sprintf("%s n=%d+%d", p, r.BaseRuns, r.HeadRuns)
}

func (r Row) showDetectable() string {
	switch {
	case r.Kind == measure.Count || r.Verdict == TooFew || r.Verdict == NoData:
		return ""
	case r.Detectable == 0:
		return "nothing"
	}
	return fmt.Sprintf("%.0f %%", 100*r.Detectable)
}
