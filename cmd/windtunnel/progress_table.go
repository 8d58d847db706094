package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/watch"
)

// tablePeriod is how often the table of a run is drawn.
const tablePeriod = 250 * time.Millisecond

// progressTable is the live table of a run on a terminal. It reads no keys, so Ctrl-C still sends a signal.
type progressTable struct {
	run   *watch.Run
	paint func(text.Color, string) string
	width int // columns of the terminal
	over  bool
}

// runIsOver is the message that removes the table.
type runIsOver struct{}

type tableTick struct{}

// showTable shows the table of a run on a terminal until end is called.
func showTable(run *watch.Run, out io.Writer, options ...tea.ProgramOption) (end func()) {
	options = append([]tea.ProgramOption{tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler()}, options...)
	program := tea.NewProgram(progressTable{run: run, paint: report.Painter(out), width: 80}, options...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := program.Run(); err != nil {
			fmt.Fprintln(out, "windtunnel: the progress cannot be shown:", err)
		}
	}()
	return func() {
		program.Send(runIsOver{})
		<-ended
	}
}

// Init starts the timer that redraws the table.
func (t progressTable) Init() tea.Cmd { return nextTick() }

func nextTick() tea.Cmd { return tea.Tick(tablePeriod, func(time.Time) tea.Msg { return tableTick{} }) }

// Update follows the size of the terminal, and ends with the run.
func (t progressTable) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		t.width = message.Width
	case tableTick:
		return t, nextTick()
	case runIsOver:
		t.over = true
		return t, tea.Quit
	}
	return t, nil
}

// View draws what the run does, and the table of its subjects.
func (t progressTable) View() tea.View {
	var view tea.View
	view.DisableBracketedPasteMode = true // there is no input
	if !t.over {
		view.Content = t.render(t.run.Status())
	}
	return view
}

func (t progressTable) render(s watch.Status) string {
	lines := []string{tableTitle(s), "the run " + s.Waits, ""}
	lines = append(lines, strings.Split(t.table(s), "\n")...)
	for i, line := range lines {
		lines[i] = text.Trim(line, t.width)
	}
	return strings.Join(lines, "\n")
}

// tableTitle says what the run does, and for how long.
func tableTitle(s watch.Status) string {
	title := string(s.Stage)
	if s.Turn > 0 {
		title = fmt.Sprintf("turn %d of %d, %s: %s", s.Turn, s.Turns, s.Subject, s.Stage)
	}
	if s.Stage == watch.Changing {
		title += " " + progressBar(s)
	}
	return title + fmt.Sprintf(" %v", s.Took.Truncate(time.Second))
}

// tableColumns are the columns of the table. A narrow terminal omits the last ones.
var tableColumns = []struct {
	name string
	cell func(watch.SubjectStatus) string
}{
	{"subject", func(s watch.SubjectStatus) string { return s.Name }},
	{"phase", func(s watch.SubjectStatus) string { return s.Phase }},
	{"req/s", func(s watch.SubjectStatus) string { return fmt.Sprintf("%.0f", s.Rate) }},
	{"failed", failedCell},
	{"changes", changesCell},
	{"reloads", func(s watch.SubjectStatus) string { return fmt.Sprint(s.Reloads) }},
	{"gens", func(s watch.SubjectStatus) string { return fmt.Sprint(s.Generations) }},
	{"stale p99", func(s watch.SubjectStatus) string { return quantile(s.Stale.N, s.Stale.P99) }},
	{"served p99", func(s watch.SubjectStatus) string { return quantile(s.Last.N, s.Last.P99) }},
}

func (t progressTable) table(s watch.Status) string {
	for n := len(tableColumns); ; n-- {
		rendered := t.columns(s, n)
		if first, _, _ := strings.Cut(rendered, "\n"); n == 1 || text.StringWidthWithoutEscSequences(first) <= t.width {
			return rendered
		}
	}
}

// columns returns the table with its first n columns.
func (t progressTable) columns(s watch.Status, n int) string {
	w := report.NewTable()
	w.Style().Options.SeparateHeader = false
	head := table.Row{}
	var configs []table.ColumnConfig
	for i, column := range tableColumns[:n] {
		head = append(head, column.name)
		if i >= 2 {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	w.AppendHeader(head)
	w.SetColumnConfigs(configs)
	for _, subject := range s.Subjects {
		row := table.Row{}
		for _, column := range tableColumns[:n] {
			cell := report.PlainText(column.cell(subject))
			if column.name == "failed" && subject.Failed > 0 {
				cell = t.paint(text.FgRed, cell)
			}
			row = append(row, cell)
		}
		w.AppendRow(row)
	}
	return w.Render()
}

// failedCell returns the failed requests with their causes, the most frequent first, a line each.
func failedCell(s watch.SubjectStatus) string {
	lines := []string{fmt.Sprint(s.Failed)}
	causes := slices.SortedFunc(maps.Keys(s.Causes), func(a, b string) int {
		if s.Causes[a] != s.Causes[b] {
			return s.Causes[b] - s.Causes[a]
		}
		return strings.Compare(a, b)
	})
	for _, cause := range causes {
		lines = append(lines, fmt.Sprintf("%d %s", s.Causes[cause], cause))
	}
	return strings.Join(lines, "\n")
}

func changesCell(s watch.SubjectStatus) string {
	if s.Waiting == 0 {
		return fmt.Sprint(s.Changes)
	}
	return fmt.Sprintf("%d\n%d to go", s.Changes, s.Waiting)
}

// quantile returns a quantile of n values; a dash if there are none.
func quantile(n int, d time.Duration) string {
	if n == 0 {
		return "–"
	}
	return report.Seconds(d.Seconds())
}
