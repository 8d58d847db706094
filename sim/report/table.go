package report

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// Table writes the result for a terminal of 100 columns: whether the run is void, the summary with
// a column per subject, why a run is not valid, the expectations, and, next to the prompt, the answers.
// It uses colours only if w is a terminal and NO_COLOR (https://no-color.org) is not set.
func Table(w io.Writer, result measure.Result, series measure.Series, checks []judge.Check) error {
	paint := painter(w)
	var parts []string
	void := voidSubjects(result)
	if len(void) > 0 {
		parts = append(parts, paint(text.FgRed, fmt.Sprintf("VOID: the figures of %s are not reliable. The reasons are below.", plainLine(listOf(void)))))
	}
	parts = append(parts, summaryTable(result, paint))
	if notes := remarks(result); notes != "" {
		parts = append(parts, notes)
	}
	if len(checks) > 0 {
		parts = append(parts, checkTable(checks, paint))
	}
	parts = append(parts, plainAnswers(answersOf(result, series, checks)))
	if len(void) > 0 {
		parts = append(parts, paint(text.FgRed, "VOID: "+plainLine(unjudged(result, checks))))
	}
	if _, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// Widths of the answers in a terminal, in columns.
const (
	questionWidth = 14
	answerWidth   = 100 - questionWidth
)

func plainAnswers(a answers) string {
	var lines []string
	for _, one := range a.lines() {
		label := one.Question
		for i, t := range one.Texts {
			if i > 0 {
				t = "- " + t
			}
			for line := range strings.SplitSeq(text.WrapSoft(plainLine(t), answerWidth), "\n") {
				lines = append(lines, strings.TrimRight(fmt.Sprintf(" %-*s%s", questionWidth-1, label, line), " "))
				label = ""
			}
		}
	}
	return strings.Join(lines, "\n")
}

// painter returns a function that colours text if w is a terminal.
func painter(w io.Writer) func(text.Color, string) string {
	file, isFile := w.(*os.File)
	if isFile && os.Getenv("NO_COLOR") == "" && term.IsTerminal(int(file.Fd())) {
		return func(c text.Color, s string) string { return c.EscapeSeq() + s + text.EscapeReset }
	}
	return func(_ text.Color, s string) string { return s }
}

func summaryTable(result measure.Result, paint func(text.Color, string) string) string {
	t := newTable()
	header := table.Row{plainLine(result.Run.Scenario)}
	columns := []table.ColumnConfig{{Number: 1, WidthMax: 36}}
	for i, s := range result.Subjects {
		header = append(header, plainLine(s.Name))
		columns = append(columns, table.ColumnConfig{Number: i + 2, Align: text.AlignRight, AlignHeader: text.AlignRight, WidthMax: 34})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	for _, r := range rowsOf(result) {
		line := table.Row{r.Label}
		for _, s := range result.Subjects {
			var lines []string
			for _, line := range r.lines(s) {
				lines = append(lines, plainLine(line))
			}
			cell := strings.Join(lines, "\n")
			if r.Label == "run is valid" && !s.Valid {
				cell = paint(text.FgRed, cell)
			}
			line = append(line, cell)
		}
		t.AppendRow(line)
	}
	return t.Render()
}

// remarks returns the circumstances of a run, what does not apply to a subject, why its run is not valid,
// and what went wrong in it, one per line.
func remarks(result measure.Result) string {
	lines := circumstances(result)
	for _, s := range result.Subjects {
		for _, n := range s.NotApplicable {
			lines = append(lines, plainLine(fmt.Sprintf("not applicable to %s: %s: %s", s.Name, strings.Join(n.Measurements, ", "), n.Why)))
		}
		for _, reason := range s.Invalid {
			lines = append(lines, plainLine(fmt.Sprintf("%s is not valid: %s", s.Name, reason)))
		}
		for _, trouble := range s.Trouble {
			lines = append(lines, plainLine(fmt.Sprintf("problem with %s: %s", s.Name, trouble)))
		}
	}
	return strings.Join(lines, "\n")
}

// circumstances returns what an imported population leaves out, the controllers of subjects, why the pods of a
// subject shared no sockets, whether a launcher ran its controller, and which clocks were corrected.
func circumstances(result measure.Result) []string {
	lines := populationLines(result.Run.Population)
	for _, s := range result.Subjects {
		if controller := result.Run.ControllerOf(s.Name); controller != "" {
			lines = append(lines, plainLine(fmt.Sprintf("the controller of %s is the %s", s.Name, controller)))
		}
		if s.PodSockets.Why != "" {
			lines = append(lines, plainLine(fmt.Sprintf("each pod of %s had its own sockets: %s", s.Name, s.PodSockets.Why)))
		}
		if s.Launcher.Why != "" {
			lines = append(lines, plainLine(fmt.Sprintf("a launcher ran the controller of %s without capabilities, because the observer did not see its open files: %s", s.Name, s.Launcher.Why)))
		}
		for _, c := range s.Clocks {
			lines = append(lines, plainLine(clockLine(c)))
		}
	}
	return lines
}

// clockLine describes the clock of a pod: how its node's time differs, and how well that is known.
func clockLine(c measure.Clock) string {
	return fmt.Sprintf("clock of %s (%s, %s): offset %v ± %v, drift %+.0f ppm; corrected", c.Node, c.Pod, c.Role,
		c.Offset.Round(time.Microsecond), c.Bound.Round(time.Microsecond), c.Drift)
}

// plainLine removes control characters: text that a controller logs must not break a line or
// control the terminal.
func plainLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// checkMarks and checkColours are how the verdicts on expectations look.
var (
	checkMarks = map[judge.Verdict]string{
		judge.Met: "pass", judge.NotMet: "FAIL", judge.NotJudged: string(judge.NotJudged), judge.NotApplicable: "n/a",
	}
	checkColours = map[judge.Verdict]text.Color{
		judge.Met: text.FgGreen, judge.NotMet: text.FgRed, judge.NotJudged: text.FgHiBlack, judge.NotApplicable: text.FgHiBlack,
	}
)

func checkTable(checks []judge.Check, paint func(text.Color, string) string) string {
	t := newTable()
	t.AppendHeader(table.Row{"", "subject", "expectation", "actual"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: 14}, {Number: 3, WidthMax: 38, WidthMaxEnforcer: text.WrapSoft}, {Number: 4, WidthMax: 34, WidthMaxEnforcer: text.WrapSoft}})
	for _, c := range checks {
		mark := paint(checkColours[c.Verdict()], checkMarks[c.Verdict()])
		t.AppendRow(table.Row{mark, plainLine(c.Subject), plainLine(c.Text), plainLine(c.Actual)})
	}
	return t.Render()
}

// unjudged explains why no expectation is judged, or why some are not.
func unjudged(result measure.Result, checks []judge.Check) string {
	count := countChecks(checks)
	void := count[judge.NotJudged]
	if void == 0 {
		return runsAreVoid(result)
	}
	line := fmt.Sprintf("%s not judged, because %s", plural.Of(void, "expectation"), runsAreVoid(result))
	if count[judge.Met]+count[judge.NotMet] > 0 {
		line += fmt.Sprintf("; others: %d met, %d not met", count[judge.Met], count[judge.NotMet])
	}
	return line
}

func newTable() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.Style().Options.DrawBorder = false
	t.Style().Options.SeparateColumns = false
	t.SuppressTrailingSpaces()
	return t
}
