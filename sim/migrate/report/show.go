package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/behave/diff"
	"windtunnel.dev/sim/report"
)

// shown is how many differences of an effect a terminal shows. The other formats have all.
const shown = 10

// group is the differences of one effect.
type group struct {
	Effect diff.Effect
	Steps  int
	Alike  []alike
}

// alike are the requests that differ in the same way.
type alike struct {
	Difference // the first
	Others     []Difference
	Also       string // how many others there are; see diff.Alike
}

// step identifies a request.
type step struct {
	name string // of the case
	line int
}

// groups returns the differences by effect, the worst first.
func (t Target) groups() []group {
	byStep := map[step]Difference{}
	var plain []diff.Difference
	for _, d := range t.Differences {
		byStep[step{d.Case, d.Line}] = d
		plain = append(plain, d.Difference)
	}
	whole := func(d diff.Difference) Difference { return byStep[step{d.Case, d.Line}] }
	var all []group
	for _, g := range diff.Groups(plain) {
		made := group{Effect: g.Effect, Steps: g.Steps}
		for _, a := range g.Alike {
			one := alike{Difference: whole(a.Difference), Also: a.Also("other request")}
			for _, other := range a.Others {
				one.Others = append(one.Others, whole(other))
			}
			made.Alike = append(made.Alike, one)
		}
		all = append(all, made)
	}
	return all
}

// asked returns the numbers of requests, ingresses and hosts in words.
func (d Document) asked() string {
	return fmt.Sprintf("%s of %s for %s", plural.Of(d.Requests, "request"), plural.Of(d.Ingresses, "ingress", "ingresses"), plural.Of(d.Hosts, "host"))
}

// annotationRows returns the rows of the table of annotations, under its header.
func (d Document) annotationRows() (header []string, rows [][]string) {
	header = []string{"annotation", "ingresses", "requests"}
	for _, t := range d.To {
		header = append(header, t.Name)
	}
	for _, a := range d.Annotations {
		row := []string{a.Name, fmt.Sprint(a.Ingresses), fmt.Sprint(a.Requests)}
		for _, fate := range a.To {
			if a.Requests == 0 {
				row = append(row, "not tested")
			} else {
				row = append(row, fate.String())
			}
		}
		rows = append(rows, row)
	}
	return header, rows
}

// notAsked returns a line that says why an annotation, or another part of the manifests, is not
// tested.
func notAsked(o derive.Omission) string {
	if len(o.Objects) == 0 {
		return o.What + ": " + o.Why
	}
	return fmt.Sprintf("%s: %s (%s)", o.What, o.Why, plural.Of(len(o.Objects), "object"))
}

// remarks returns lines about what was not compared, or does not reach a controller.
func (d Document) remarks() []string {
	var all []string
	for _, n := range d.NotRecorded {
		all = append(all, fmt.Sprintf("not recorded: %s: %s", n.Case, n.Why))
	}
	for _, t := range d.To {
		for _, n := range t.NotCompared {
			all = append(all, fmt.Sprintf("not compared on %s: %s: %s", t.Name, n.Case, n.Why))
		}
		if len(t.Unreached) > 0 {
			all = append(all, fmt.Sprintf("%s has no setting for %s: it was tested without", t.Name, strings.Join(t.Unreached, ", ")))
		}
	}
	if d.Costs != nil {
		for _, r := range d.Costs.Runs {
			all = append(all, r.remarks()...)
		}
		for _, r := range d.Costs.Runs {
			for _, s := range r.Subjects {
				all = append(all, s.dashes()...)
			}
		}
	}
	return unique(all)
}

// unique returns the lines without repetitions, because the runs have the same controllers.
func unique(lines []string) []string {
	var all []string
	for _, line := range lines {
		if !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

// Text writes the document for a terminal.
func Text(w io.Writer, d Document) error {
	paint := report.Painter(w)
	var parts []string
	for _, t := range d.To {
		if differences := textDifferences(t, paint); differences != "" {
			parts = append(parts, differences)
		}
	}
	if len(d.Annotations) > 0 {
		parts = append(parts, textTable(d.annotationRows()))
	}
	if d.Costs != nil {
		for _, r := range d.Costs.Runs {
			if rows := r.rows(); rows != nil {
				parts = append(parts, textTable(r.header(), rows))
			}
		}
		parts = append(parts, "costs: "+d.Costs.Population)
	}
	var lines []string
	if len(d.NotAsked) > 0 {
		lines = append(lines, "not tested, or only in part:")
	}
	for _, o := range d.NotAsked {
		lines = append(lines, "  "+report.PlainLine(notAsked(o)))
	}
	for _, remark := range d.remarks() {
		lines = append(lines, report.PlainLine(remark))
	}
	if len(lines) > 0 {
		parts = append(parts, strings.Join(lines, "\n"))
	}
	parts = append(parts, report.PlainLine(fmt.Sprintf("%s, compared with %s: %s", d.asked(), d.From, d.headline())))
	return write(w, strings.Join(parts, "\n\n")+"\n")
}

// header returns the header of the table of a run.
func (r CostRun) header() []string {
	header := []string{r.Change}
	for _, s := range r.Subjects {
		header = append(header, s.Name)
	}
	return header
}

func textDifferences(t Target, paint func(text.Color, string) string) string {
	var out strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	for _, g := range t.groups() {
		line("%s", paint(text.Bold, fmt.Sprintf("%s: %s (%d)", report.PlainLine(t.Name), g.Effect.Title(), g.Steps)))
		for n, one := range g.Alike {
			if n == shown {
				line("  and %s", plural.Of(len(g.Alike)-shown, "other difference"))
				break
			}
			others := ""
			if one.Also != "" {
				others = ", " + one.Also
			}
			line("  %s%s", report.PlainLine(one.Step), others)
			line("    cause: %s", paint(text.FgYellow, report.PlainLine(one.Cause())))
			for _, header := range one.Headers {
				line("    with %s", report.PlainLine(header))
			}
			line("    %s", report.PlainLine(one.answers()))
			for _, v := range one.details() {
				line("    %s: %s → %s", report.PlainLine(v.What), report.PlainLine(v.A), report.PlainLine(v.B))
			}
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// answers returns both answers in one line.
func (d Difference) answers() string {
	if d.From == d.To {
		return "both " + d.From
	}
	return d.From + " → " + d.To
}

// details returns the values that the descriptions of the answers do not show.
func (d Difference) details() []diff.Value {
	var all []diff.Value
	for _, v := range d.Values {
		if v.What != "status" && v.What != "service" && v.What != "header Location" || d.From == d.To {
			all = append(all, v)
		}
	}
	return all
}

func textTable(header []string, rows [][]string) string {
	t := report.NewTable()
	t.AppendHeader(report.Cells(header, report.PlainLine))
	for _, row := range rows {
		t.AppendRow(report.Cells(row, report.PlainLine))
	}
	return t.Render()
}

func write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// JSON writes the document. Durations are in nanoseconds.
func JSON(w io.Writer, d Document) error {
	if err := report.Indented(w, d); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
