package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/markdown"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/report"
)

// Change sums up the live changes of an annotation or ConfigMap key in all cases.
type Change struct {
	Name    string        `json:"name"`              // annotation/rewrite-target
	Cases   int           `json:"cases"`             // in which it was changed
	Reload  int           `json:"reload,omitempty"`  // in which nginx was reloaded, of those that show the change
	Dynamic int           `json:"dynamic,omitempty"` // in which it was not
	Bad     int           `json:"bad,omitempty"`     // in which the change was not seen, or could not be made
	Slowest time.Duration `json:"slowest,omitempty"` // until the change was seen, in those that measure it; in nanoseconds
}

// Matrix is changes.json, the summary of a live run.
type Matrix struct {
	Run
	Changes []Change `json:"changes"`
}

// ChangesJSON writes changes.json, with a line for each change.
func ChangesJSON(w io.Writer, d Document) error {
	run, err := json.Marshal(d.Run)
	if err != nil {
		return fmt.Errorf("writing the changes: %w", err)
	}
	var rows []string
	for _, c := range Changes(d.Cases) {
		row, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("writing the changes: %w", err)
		}
		rows = append(rows, string(row))
	}
	head := strings.TrimSuffix(string(run), "}")
	if _, err := fmt.Fprintf(w, "%s,\n\"changes\":[\n%s\n]}\n", head, strings.Join(rows, ",\n")); err != nil {
		return fmt.Errorf("writing the changes: %w", err)
	}
	return nil
}

// How returns how the changes took effect: reload, dynamic, either, or "" if no case shows it.
func (c Change) How() string {
	switch {
	case c.Reload > 0 && c.Dynamic > 0:
		return "either"
	case c.Reload > 0:
		return "reload"
	case c.Dynamic > 0:
		return "dynamic"
	}
	return ""
}

// Changes returns a row for each annotation and ConfigMap key that the cases of a live run cover,
// by name.
func Changes(cases []Case) []Change {
	found := map[string]Change{}
	for _, c := range cases {
		for _, l := range c.Live {
			row := found[l.Covers]
			row.Name = l.Covers
			switch l.Outcome {
			case behave.Skipped:
			case behave.Passed:
				row.Cases++
			default:
				row.Cases++
				row.Bad++
			}
			if dynamic, known := l.Dynamic(); known && dynamic {
				row.Dynamic++
			} else if known {
				row.Reload++
			}
			for _, seen := range []*behave.Seen{l.Set, l.Removed} {
				if seen != nil && l.Shown {
					row.Slowest = max(row.Slowest, seen.Took)
				}
			}
			found[l.Covers] = row
		}
	}
	var all []Change
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if found[name].Cases > 0 {
			all = append(all, found[name])
		}
	}
	return all
}

// changeHeader are the columns of the table of live changes.
var changeHeader = table.Row{"changed live", "cases", "reload", "dynamic", "not shown", "bad", "slowest"}

// cells returns the columns of a change; numbers that are zero are empty.
func (c Change) cells() table.Row {
	plain := func(n string) string { return n }
	slowest := ""
	if c.Slowest > 0 {
		slowest = report.Seconds(c.Slowest.Seconds())
	}
	return table.Row{c.Name, c.Cases, cell(c.Reload, plain), cell(c.Dynamic, plain), cell(c.NotShown(), plain), cell(c.Bad, plain), slowest}
}

// NotShown returns the number of cases whose answers are the same with and without it.
func (c Change) NotShown() int { return c.Cases - c.Reload - c.Dynamic - c.Bad }

// liveTable returns the live changes for a terminal, or "".
func liveTable(changes []Change, paint func(text.Color, string) string) string {
	if len(changes) == 0 {
		return ""
	}
	t := report.NewTable()
	t.AppendHeader(changeHeader)
	columns := []table.ColumnConfig{{Number: 1, WidthMax: 60}}
	for i := range changeHeader[1:] {
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	for _, c := range changes {
		cells := c.cells()
		cells[0] = report.PlainLine(c.Name)
		if c.Bad > 0 {
			cells[5] = paint(text.FgRed, fmt.Sprint(c.Bad))
		}
		t.AppendRow(cells)
	}
	return t.Render() + "\n\n"
}

// markdownLive returns the live changes as a table in a collapsed section, or "".
func markdownLive(changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	t := table.NewWriter()
	t.AppendHeader(changeHeader)
	for _, c := range changes {
		cells := c.cells()
		cells[0] = markdown.Code(c.Name)
		t.AppendRow(cells)
	}
	return "<details><summary>live changes</summary>\n\n" + t.RenderMarkdown() + "\n\n" + liveNote + "\n\n</details>"
}

// liveNote explains the table of live changes.
const liveNote = "Each annotation and ConfigMap key is set on the running controller, and removed again. " +
	"Slowest: the longest time until answers showed a change, where they could be watched. " +
	"Not shown: the case expects the same answers with and without it."

// seenIn describes how a change came to be seen: 0.3 s, 1 reload.
func seenIn(s *behave.Seen) string {
	if s == nil {
		return ""
	}
	parts := []string{"dynamic"}
	if s.Reloads > 0 {
		parts[0] = fmt.Sprintf("%d reloads", s.Reloads)
		if s.Reloads == 1 {
			parts[0] = "reload"
		}
	}
	if s.Took > 0 {
		parts = append(parts, report.Seconds(s.Took.Seconds()))
	}
	return strings.Join(parts, ", ")
}
