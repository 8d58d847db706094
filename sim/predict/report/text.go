// Package report shows predictions: as a table for terminals, as JSON and as an HTML page. Its one
// rule: no figure appears without its interval, its error on held-out runs, and how far it
// extrapolates.
package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/report"
)

// JSON writes a prediction as JSON.
func JSON(w io.Writer, p *predict.Prediction) error { return report.Indented(w, p) }

// Text writes a prediction for a terminal of 100 columns.
func Text(w io.Writer, p *predict.Prediction) error {
	parts := []string{headline(p)}
	if len(p.Answers) == 1 {
		parts = append(parts, answerTable(p))
	} else {
		parts = append(parts, sweepTable(p), errorTable(p))
	}
	for _, answer := range p.Answers {
		if lines := verdicts(answer); lines != "" && len(p.Answers) == 1 {
			parts = append(parts, lines)
		}
	}
	if len(p.Answers) > 1 && len(p.Answers[0].Conditions) > 0 {
		parts = append(parts, Conclusion(p))
	}
	parts = append(parts, strings.Join(Remarks(p), "\n"))
	if _, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n"); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// headline describes the question in one line.
func headline(p *predict.Prediction) string {
	line := p.Question.Name
	if p.Question.Summary != "" {
		line += ": " + p.Question.Summary
	}
	return report.PlainLine(line)
}

// answerTable shows all figures of the only answer.
func answerTable(p *predict.Prediction) string {
	t := report.NewTable()
	t.AppendHeader(table.Row{"", "median", "90 % of the runs", "error on held-out runs"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, Align: text.AlignRight, AlignHeader: text.AlignRight}, {Number: 3, Align: text.AlignRight, AlignHeader: text.AlignRight}})
	for _, v := range p.Answers[0].Figures {
		f, _ := figure.Find(v.Name)
		t.AppendRow(table.Row{f.Label, Format(v.Unit, v.Median), Interval(v), errorOf(f, v.Error)})
	}
	return t.Render()
}

// shown are the figures of a sweep's table.
var shown = []string{"staleness.p50", "staleness.p99", "reloads", "generations", "memory.peak", "lost"}

// headerWidth is how wide a header of a sweep's table is before it is broken.
const headerWidth = 12

// sweepTable has a row for each answer.
func sweepTable(p *predict.Prediction) string {
	t := report.NewTable()
	names := slices.Sorted(maps.Keys(p.Answers[0].Values))
	header := table.Row{}
	for _, name := range names {
		header = append(header, name)
	}
	columns := []table.ColumnConfig{}
	for _, name := range shown {
		f, _ := figure.Find(name)
		header = append(header, text.WrapSoft(f.Label, headerWidth))
		columns = append(columns, table.ColumnConfig{Number: len(header), Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	conditions := len(p.Answers[0].Conditions) > 0
	if conditions {
		header = append(header, "meets\nall")
		columns = append(columns, table.ColumnConfig{Number: len(header), Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.AppendHeader(header)
	t.SetColumnConfigs(columns)
	for _, answer := range p.Answers {
		row := table.Row{}
		for _, name := range names {
			row = append(row, report.PlainLine(answer.Values[name]))
		}
		for _, name := range shown {
			v := valueOf(answer, name)
			row = append(row, Format(v.Unit, v.Median)+"\n"+Interval(v))
		}
		if conditions {
			row = append(row, Percent(answer.Meets))
		}
		t.AppendRow(row)
	}
	return t.Render()
}

// errorTable has the errors of the figures of a sweep's table, which do not depend on the answer.
func errorTable(p *predict.Prediction) string {
	t := report.NewTable()
	t.AppendHeader(table.Row{"figure", "error on held-out runs"})
	for _, name := range shown {
		f, _ := figure.Find(name)
		t.AppendRow(table.Row{f.Label, errorOf(f, valueOf(p.Answers[0], name).Error)})
	}
	return t.Render()
}

func valueOf(a predict.Answer, name string) predict.Value {
	for _, v := range a.Figures {
		if v.Name == name {
			return v
		}
	}
	return predict.Value{}
}

// verdicts says how often each condition holds.
func verdicts(a predict.Answer) string {
	var lines []string
	for _, v := range a.Conditions {
		lines = append(lines, fmt.Sprintf("%s: in %s of the simulated runs", report.PlainLine(v.Condition), Percent(v.Share)))
	}
	return strings.Join(lines, "\n")
}

// Sure is the share of the runs in which all conditions must hold for an answer to meet them.
const Sure = 0.9

// Conclusion says which values of a sweep meet all conditions.
func Conclusion(p *predict.Prediction) string {
	var met []string
	best := p.Answers[0]
	for _, answer := range p.Answers {
		if answer.Meets >= Sure {
			met = append(met, values(answer))
		}
		if answer.Meets > best.Meets {
			best = answer
		}
	}
	if best.Meets == 0 {
		return "No value meets all conditions in any simulated run."
	}
	if len(met) == 0 {
		return fmt.Sprintf("No value meets all conditions in %s of the simulated runs. The best is %s, with %s.", Percent(Sure), values(best), Percent(best.Meets))
	}
	return fmt.Sprintf("All conditions hold in at least %s of the simulated runs with: %s.", Percent(Sure), strings.Join(met, "; "))
}

// values formats the values of a sweep: sync-rate-limit=1 worker-processes=4.
func values(a predict.Answer) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(a.Values)) {
		all = append(all, name+"="+report.PlainLine(a.Values[name]))
	}
	return strings.Join(all, " ")
}

// Remarks returns the limits of the answer, one per line: unpredictable figures, extrapolation, and
// the source of the costs.
func Remarks(p *predict.Prediction) []string {
	var lines []string
	if unknown := unreliable(p.Answers[0]); len(unknown) > 0 && p.Parameters.HeldOut > 0 {
		lines = append(lines, "Not predictable: "+strings.Join(unknown, "; ")+". Do not rely on these figures.")
	}
	lines = append(lines, limits(p)...)
	lines = append(lines, extrapolation(p)...)
	source := fmt.Sprintf("The costs are from %s of %s", plural.Of(p.Parameters.Runs, "run"), report.PlainLine(p.Parameters.Controller))
	if machine := machineOf(p.Parameters.Machine); machine != "" {
		source += " on a machine with " + machine
	}
	if p.Parameters.File != "" {
		source += " (" + report.PlainLine(p.Parameters.File) + ")"
	}
	source += "."
	if p.Parameters.HeldOut == 0 {
		source += " They were not compared with held-out runs, so no figure is reliable: see windtunnel calibrate --validate."
	}
	return append(lines, source)
}

// dictionary is the default size of the Lua dictionary configuration_data, in MiB.
const dictionary = 20

// limits returns the limits of the machine and the controller that an answer exceeds, and that the
// simulation ignores.
func limits(p *predict.Prediction) []string {
	list, load := 0.0, 0.0
	for _, answer := range p.Answers {
		list = max(list, valueOf(answer, "list").Median)
		load = max(load, answer.Load)
	}
	var lines []string
	if load > simulate.MostLoad {
		lines = append(lines, fmt.Sprintf("The requests need %s of the processors, with their clients and pods, but the simulation leaves %s to everything else: reduce the requests or add processors.",
			Format(figure.Share, load), Format(figure.Share, 1-simulate.MostLoad)))
	}
	if list <= dictionary {
		return lines
	}
	return append(lines, fmt.Sprintf("The list of backends has %s, but Lua's dictionary configuration_data holds %d MiB, unless lua-shared-dicts sets another size: increase it, because larger lists are rejected and nginx keeps the old endpoints.", Format(figure.MiB, list), dictionary))
}

func machineOf(machine map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(machine)) {
		all = append(all, report.PlainLine(name+" "+machine[name]))
	}
	return strings.Join(all, ", ")
}

// unreliable returns the labels of the figures whose error is too large or unknown.
func unreliable(a predict.Answer) []string {
	var all []string
	for _, v := range a.Figures {
		f, _ := figure.Find(v.Name)
		if f.Measured != "" && !v.Predictable {
			all = append(all, f.Label)
		}
	}
	return all
}

// extrapolation says which quantities are outside of the fitted range, over all answers.
func extrapolation(p *predict.Prediction) []string {
	worst := map[string]predict.Beyond{}
	for _, answer := range p.Answers {
		for _, b := range answer.Beyond {
			if before, known := worst[b.Quantity]; !known || b.Factor() > before.Factor() {
				worst[b.Quantity] = b
			}
		}
	}
	if len(worst) == 0 {
		return []string{"All quantities are within the range of the runs to which the costs were fitted."}
	}
	lines := []string{"This extrapolates: the errors apply within the range of the runs; beyond it, they are unknown."}
	for _, name := range slices.Sorted(maps.Keys(worst)) {
		b := worst[name]
		if b.Times == 0 {
			lines = append(lines, fmt.Sprintf("  %s: %s, but no run had any", name, number(b.Value)))
			continue
		}
		limit := fmt.Sprintf("%s times the largest of the runs, %s", number(b.Times), number(b.High))
		if b.Value < b.Low {
			limit = fmt.Sprintf("below the smallest of the runs, %s, by a factor of %s", number(b.Low), number(b.Times))
		}
		if name == "reloads/s" || name == "syncs/s" {
			name = "limit of " + name // the rates themselves follow from the simulation
		}
		lines = append(lines, fmt.Sprintf("  %s: %s is %s", name, number(b.Value), limit))
	}
	return lines
}

// errorOf describes the error of a figure.
func errorOf(f figure.Figure, e *costs.Error) string {
	switch {
	case e == nil && f.Measured == "":
		return "not measured"
	case e == nil:
		return "unknown"
	case e.Predictable():
		return fmt.Sprintf("%s, worst %s", Percent(e.Median), Percent(e.Worst))
	}
	return fmt.Sprintf("not predictable: %s, worst %s", Percent(e.Median), Percent(e.Worst))
}
