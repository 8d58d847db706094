package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/report"
)

// shown is how many failures of a case a terminal shows. result.json has all.
const shown = 3

// words are the outcomes in a terminal, with their colours.
var words = map[behave.Outcome]struct {
	word   string
	colour text.Color
}{
	behave.Passed:   {"pass", text.FgGreen},
	behave.Differs:  {"differs", text.FgHiBlack},
	behave.Failed:   {"FAIL", text.FgRed},
	behave.NoLonger: {"FAIL", text.FgRed},
	behave.Void:     {"void", text.FgYellow},
	behave.Skipped:  {"skip", text.FgHiBlack},
}

// Lines writes results as they arrive, each on one or more lines.
type Lines struct {
	to   io.Writer
	last string // the reason in the last line, or ""
}

// NewLines returns a writer of results.
func NewLines(to io.Writer) *Lines { return &Lines{to: to} }

// Write writes a line for a case that did not pass, with its place in the file, and a line for each
// further failure. It writes nothing for a case that passed or has a declared difference. Of successive
// cases with the same reason, only the first line has it, because all cases have the same reason if a
// controller does not start.
func (l *Lines) Write(r behave.Result) error {
	if r.Outcome == behave.Passed || r.Outcome == behave.Differs {
		return nil
	}
	word := words[r.Outcome]
	mark := report.Painter(l.to)(word.colour, word.word)
	if len(r.Failures) == 0 {
		why := report.PlainLine(r.Reason)
		if why == l.last {
			why = "for the same reason"
		} else {
			l.last = why
		}
		_, err := fmt.Fprintf(l.to, "%s %s: %s\n", mark, report.PlainLine(r.File), why)
		return err
	}
	l.last = ""
	var lines []string
	for _, failure := range r.Failures[:min(len(r.Failures), shown)] {
		lines = append(lines, report.PlainLine(failure.Error()))
	}
	if more := len(r.Failures) - shown; more > 0 {
		lines = append(lines, "and "+plural.Of(more, "more failure"))
	}
	if r.Reason != "" {
		lines = append(lines, report.PlainLine(r.Reason))
	}
	_, err := fmt.Fprintf(l.to, "%s %s\n", mark, strings.Join(lines, "\n     "))
	return err
}

// Table writes the outcomes by topic for a terminal, and the total.
func Table(w io.Writer, d Document) error {
	outcomes := d.Outcomes.present()
	t := report.NewTable()
	header := table.Row{"topic"}
	columns := []table.ColumnConfig{{Number: 1, WidthMax: 40}}
	for i, outcome := range outcomes {
		header = append(header, string(outcome))
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	paint := report.Painter(w)
	for _, r := range d.topics() {
		line := table.Row{report.PlainLine(r.Name)}
		for _, outcome := range outcomes {
			line = append(line, cell(r.Counts[outcome], func(n string) string { return paint(words[outcome].colour, n) }))
		}
		t.AppendRow(line)
	}
	_, err := fmt.Fprintf(w, "%s%s\n\n%s in %s\n", liveTable(Changes(d.Cases), paint), t.Render(), d.headline(), report.Seconds(d.Took.Seconds()))
	return err
}

// cell returns a number, or nothing for zero.
func cell(n int, paint func(string) string) string {
	if n == 0 {
		return ""
	}
	return paint(fmt.Sprint(n))
}

// because returns why a case did not pass, one reason per line.
func because(c Case) string {
	lines := []string{}
	if c.Reason != "" {
		lines = append(lines, c.Reason)
	}
	for _, failure := range c.Failures {
		lines = append(lines, report.PlainLine(failure.Error()))
	}
	return report.PlainText(strings.Join(lines, "\n"))
}
