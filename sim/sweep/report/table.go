package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/markdown"
	runreport "windtunnel.dev/sim/report"
	"windtunnel.dev/sim/sweep"
)

// Table writes the sweep for a terminal.
func Table(w io.Writer, d sweep.Document) error {
	parts := []string{runreport.PlainLine(headline(d))}
	for i, t := range tables(d) {
		if i > 0 {
			parts = append(parts, t.Title)
		}
		parts = append(parts, terminal(t.Header, t.Rows, t.Numbers))
	}
	if all := notes(d); len(all) > 0 {
		parts = append(parts, runreport.PlainText(strings.Join(all, "\n")))
	}
	return write(w, parts)
}

// titled is a table with its title.
type titled struct {
	ID, Title string
	Header    []string
	Rows      [][]string
	Numbers   bool // the cells are numbers
}

// tables returns the tables of a sweep: the combinations, and those that have rows.
func tables(d sweep.Document) []titled {
	all := []titled{{"combinations", "Combinations", header(d), rowsOf(d), true}}
	for _, t := range []titled{
		{"effects", "Main effects", effectHeader(d), effectRows(d), false},
		{"interactions", "Interactions", interactionHeader(d), interactionRows(d), false},
		{"fraction", "Fraction", fractionHeader, fractionRows(d), false},
		{"drain", "Drain curves", drainHeader(d), drainRows(d), true},
	} {
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	return all
}

func rowsOf(d sweep.Document) [][]string {
	var all [][]string
	for _, r := range d.Rows {
		all = append(all, row(d, r))
	}
	return all
}

// terminal renders a table for a terminal. Names of figures take several lines, to save columns.
func terminal(header []string, rows [][]string, numbers bool) string {
	t := runreport.NewTable()
	var head table.Row
	var columns []table.ColumnConfig
	for i, name := range header {
		name = runreport.PlainLine(name)
		if numbers {
			name = strings.NewReplacer(".", ".\n", "/", "/\n").Replace(name)
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
		head = append(head, name)
	}
	t.AppendHeader(head)
	t.SetColumnConfigs(columns)
	for _, row := range rows {
		t.AppendRow(runreport.Cells(row, runreport.PlainLine))
	}
	return t.Render()
}

// Markdown writes the sweep for a pull request.
func Markdown(w io.Writer, d sweep.Document) error {
	parts := []string{"### Sweep of " + markdown.Text(d.Scenario)}
	if d.Summary != "" {
		parts = append(parts, markdown.Text(d.Summary))
	}
	parts = append(parts, markdown.Text(headline(d))+".")
	for i, t := range tables(d) {
		if i > 0 {
			parts = append(parts, "#### "+t.Title)
		}
		parts = append(parts, runreport.MarkdownTable(t.Header, t.Rows))
	}
	for _, note := range notes(d) {
		parts = append(parts, markdown.Text(note))
	}
	return write(w, parts)
}

func write(w io.Writer, parts []string) error {
	if _, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return fmt.Errorf("writing the sweep: %w", err)
	}
	return nil
}
