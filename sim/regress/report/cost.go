package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/speed"
	"windtunnel.dev/sim/report"
)

// costRow is a figure of the part speed, in words.
type costRow struct {
	Name, Base, Head, Change, P, Verdict string
	Plot                                 *strip // nil without values
}

func costRows(c *regress.Cost) (rows []costRow) {
	if c == nil {
		return nil
	}
	for _, f := range c.Figures {
		row := costRow{Name: f.Name, Base: amount(f.BaseMedian, f.Unit), Head: amount(f.HeadMedian, f.Unit), Verdict: costVerdict(f, c.Expected[f.Name]), Plot: stripOf(f)}
		if f.Why == "" {
			row.Change, row.P = fmt.Sprintf("%+.1f %%", 100*f.Change), fmt.Sprintf("%.3f", f.P)
		}
		rows = append(rows, row)
	}
	return rows
}

// amount formats a median with its interval.
func amount(m *speed.Median, unit string) string {
	if m == nil {
		return "–"
	}
	format := report.Seconds
	if unit == "B" {
		format = report.Bytes
	}
	if m.Interval == nil {
		return format(m.Value)
	}
	return fmt.Sprintf("%s (%s to %s)", format(m.Value), format(m.Interval[0]), format(m.Interval[1]))
}

// costVerdict says what is known about a figure.
func costVerdict(f speed.Figure, e *regress.Expectation) string {
	text := map[speed.Verdict]string{
		speed.Same: fmt.Sprintf("no change above %.3g %%", 100*f.Budget), speed.Unknown: "unknown: " + f.Why,
		speed.More: costWords(f)[0], speed.Less: costWords(f)[1],
	}[f.Verdict]
	if e != nil {
		text += "; expected " + expected(e)
	}
	return text
}

// costWords are the words for more and for less of a figure.
func costWords(f speed.Figure) [2]string {
	switch {
	case f.Unit == "B":
		return [2]string{"larger", "smaller"}
	case strings.Contains(f.Name, "-cpu"):
		return [2]string{"more CPU time", "less CPU time"}
	}
	return [2]string{"slower", "faster"}
}

// costLines says how the figures were measured, a line for each fact.
func costLines(c *regress.Cost) []string {
	if c == nil {
		return nil
	}
	all := []string{fmt.Sprintf("cluster %s, served by a real nginx of each side; %s of each side, in turns; medians with their 95 %% confidence intervals", c.Cluster, plural.Of(c.Rounds, "measurement"))}
	if len(c.Targets) > 0 {
		var asked []string
		for _, t := range c.Targets {
			asked = append(asked, fmt.Sprintf("%s %s (%d)", t.Kind, t.URL, t.Status))
		}
		all = append(all, "requests: "+strings.Join(asked, ", "))
	}
	for _, text := range c.NotAsked {
		all = append(all, "no requests of kind "+text)
	}
	if !c.Controlled {
		all = append(all, fmt.Sprintf("base was not compared with itself, which needs %s of each side", plural.Of(c.Needed, "measurement")))
	}
	return all
}

// costTable writes the figures as a table.
func costTable(out io.Writer, c *regress.Cost, asMarkdown bool) {
	table := report.NewTable()
	table.AppendHeader([]any{"figure", "base", "head", "change", "p", "result"})
	for _, r := range costRows(c) {
		if asMarkdown {
			r.Verdict = markdown.Text(r.Verdict)
		}
		table.AppendRow([]any{r.Name, r.Base, r.Head, r.Change, r.P, r.Verdict})
	}
	if asMarkdown {
		fmt.Fprintln(out, table.RenderMarkdown())
	} else {
		fmt.Fprintln(out, table.Render())
	}
}

// The size of a strip plot, in pixels.
const (
	stripWidth  = 300
	stripMargin = 8
)

// strip is a plot of all values of a figure: a row of dots for each side, from 0 to the largest value.
type strip struct {
	Base, Head []float64 // positions from the left, in pixels
}

func stripOf(f speed.Figure) *strip {
	all := slices.Concat(f.Base, f.Head)
	if len(all) == 0 || slices.Max(all) <= 0 {
		return nil
	}
	most := slices.Max(all)
	at := func(values []float64) (positions []float64) {
		for _, v := range values {
			positions = append(positions, stripMargin+v/most*(stripWidth-2*stripMargin))
		}
		return positions
	}
	return &strip{at(f.Base), at(f.Head)}
}
