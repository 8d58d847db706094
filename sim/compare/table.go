package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// Table writes the comparison for a terminal.
func Table(w io.Writer, c Comparison) error { return write(w, c, table.Writer.Render) }

// Markdown writes the comparison for a pull request.
func Markdown(w io.Writer, c Comparison) error {
	c = c.escaped()
	if _, err := fmt.Fprintf(w, "### %s: %s\n\n", c.Scenario, c.headline()); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return write(w, c, table.Writer.RenderMarkdown)
}

// escaped returns a copy with names that Markdown shows literally.
func (c Comparison) escaped() Comparison {
	escape := func(rows []Row) []Row {
		rows = slices.Clone(rows)
		for i := range rows {
			rows[i].Subject, rows[i].Figure = markdown.Text(rows[i].Subject), markdown.Text(rows[i].Figure)
		}
		return rows
	}
	c.Scenario, c.Rows, c.Control = markdown.Text(c.Scenario), escape(c.Rows), escape(c.Control)
	return c
}

// JSON writes the comparison as JSON.
func JSON(w io.Writer, c Comparison) error {
	if err := report.Indented(w, c); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

func write(w io.Writer, c Comparison, render func(table.Writer) string) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"subject", "figure", "base", "head", "change", "budget", "p", "detectable", ""})
	for _, r := range c.Rows {
		t.AppendRow(table.Row{r.Subject, r.Figure, r.showSide(r.Base, r.BaseRuns), r.showSide(r.Head, r.HeadRuns), r.showChange(), r.showBudget(), r.showP(), r.showDetectable(), r.Verdict})
	}
	if _, err := fmt.Fprintf(w, "%s\n\n%s\n", render(t), strings.Join(c.notes(), "\n")); err != nil {
		return fmt.Errorf("writing the comparison: %w", err)
	}
	return nil
}

func (c Comparison) headline() string {
	worse := len(c.Worse())
	switch c.Outcome {
	case Void:
		return "void, base differs from itself"
	case SomeWorse:
		return fmt.Sprintf("%s worse", plural.Of(worse, "figure is", "figures are"))
	case CannotSay:
		return "too few runs to tell"
	}
	return fmt.Sprintf("of %s of cost, none is worse", plural.Of(len(c.Rows), "figure"))
}

// notes returns notes on how to read the rows, and on whether they are reliable.
func (c Comparison) notes() []string {
	notes := []string{c.headline() + "."}
	if untold := len(c.rowsWith(TooFew)); untold > 0 {
		notes = append(notes, fmt.Sprintf("%s could not be judged: make %d runs of each side, or choose figures (--figure): counts need one.",
			plural.Of(untold, "figure"), c.Needed))
	}
	if absent := len(c.rowsWith(NoData)); absent > 0 {
		notes = append(notes, fmt.Sprintf("%s could not be compared: one side has no value.", plural.Of(absent, "figure")))
	}
	if noisy := c.noisy(); len(noisy) > 0 {
		notes = append(notes, "These figures vary so much that the runs might have missed a doubling: "+strings.Join(noisy, ", ")+".")
	}
	notes = append(notes,
		"Compared: the cost of this scenario's changes and traffic. Not compared: the content of responses (status, headers,",
		"body). Two controllers that respond differently can get the same figures.")
	for _, r := range c.Control {
		notes = append(notes, fmt.Sprintf("Control: %s of %s differs between base's own runs (%s and %s, p = %.3f): the machine was not the same throughout.",
			r.Figure, r.Subject, r.show(r.Base), r.show(r.Head), r.P))
	}
	if c.Needed > 0 && !c.Controlled {
		notes = append(notes, fmt.Sprintf("No control: comparing base with itself needs %d base runs.", 2*c.Needed))
	}
	return append(notes,
		"Counts: the worst run of each side. The others: medians, Mann-Whitney with Holm's correction. Budget: how much a figure may rise.",
		"~: explained by chance, or within the budget. Detectable: the smallest rise that these runs could have shown.")
}

// noisy returns the figures for which these runs could have missed a doubling, although their
// budgets are smaller.
func (c Comparison) noisy() []string {
	var names []string
	for _, r := range c.rowsWith(Unsure) {
		if r.Base > 0 && r.Detectable > max(r.Base, r.Budget) {
			names = append(names, r.Figure+" of "+r.Subject)
		}
	}
	return names
}

// show formats a value of the row's figure.
func (r Row) show(value float64) string {
	switch r.Kind {
	case measure.Time:
		return report.Seconds(value)
	case measure.Bytes:
		return report.Bytes(value)
	}
	return strconv.FormatFloat(math.Round(100*value)/100, 'f', -1, 64)
}

// showSide formats the value of a side, or a dash if none of its runs has one.
func (r Row) showSide(value float64, runs int) string {
	if runs == 0 {
		return "–"
	}
	return r.show(value)
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

func (r Row) showBudget() string {
	if r.Verdict == NoData {
		return ""
	}
	return "+" + r.show(r.Budget)
}

func (r Row) showP() string {
	if !r.Kind.Varies() || !r.judged() || r.Verdict == Same {
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
	case r.Detectable == 0:
		return ""
	case r.Base == 0:
		return "+" + r.show(r.Detectable)
	}
	return fmt.Sprintf("+%.0f %%", 100*r.Detectable/r.Base)
}
