package calibrate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/figure"
	predictreport "windtunnel.dev/sim/predict/report"
	"windtunnel.dev/sim/report"
)

// Costs writes the fitted costs as a table.
func Costs(w io.Writer, p *costs.Parameters) error {
	t := report.NewTable()
	t.AppendHeader(table.Row{"cost", "term", "value", "95 % interval", "unit", "runs"})
	for _, fitted := range p.Costs {
		for _, term := range fitted.Sorted() {
			e := fitted.Terms[term]
			t.AppendRow(table.Row{fitted.Name, term, fmt.Sprintf("%.3g", e.Value), fmt.Sprintf("%.3g – %.3g", e.Low, e.High), fitted.Unit, fitted.Runs})
		}
	}
	_, err := fmt.Fprintf(w, "Fitted from %s:\n\n%s\n", plural.Of(p.Runs, "run"), t.Render())
	return err
}

// Markdown writes how predictions compare with held-out runs, as a page.
func Markdown(w io.Writer, all []Comparison, v *costs.Validation) error {
	var page strings.Builder
	fmt.Fprintf(&page, "# Predictions and held-out runs\n\nWritten by `windtunnel calibrate --validate`: %s of %s, with %s ingresses. Each run is\npredicted from its scenario. The error is the distance of the median prediction from the measured value, as\na share of the latter.\n\n",
		plural.Of(v.Runs, "run"), plural.Of(len(v.Scenarios), "scenario"), strings.Trim(strings.ReplaceAll(fmt.Sprint(v.Ingresses), " ", ", "), "[]"))
	page.WriteString("| figure | runs | median error | worst error | within the 90 % interval | |\n|---|---:|---:|---:|---:|---|\n")
	for _, f := range figure.Table {
		e, ok := v.Figures[f.Name]
		if !ok {
			continue
		}
		verdict := "predictable"
		if !e.Predictable() {
			verdict = "not predictable"
		}
		fmt.Fprintf(&page, "| %s | %d | %s | %s | %s | %s |\n", f.Label, e.Runs, predictreport.Percent(e.Median), predictreport.Percent(e.Worst), predictreport.Percent(e.Within), verdict)
	}
	fmt.Fprintf(&page, "\nPredictable: a median error of at most %s, and a worst one of at most %s.\n", predictreport.Percent(costs.MostMedian), predictreport.Percent(costs.MostWorst))
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b Comparison) int {
		return cmp.Or(cmp.Compare(a.Run.Scenario, b.Run.Scenario), cmp.Compare(a.Run.Input.Cluster.Ingresses, b.Run.Input.Cluster.Ingresses))
	})
	for _, f := range figure.Table {
		if _, ok := v.Figures[f.Name]; !ok {
			continue
		}
		fmt.Fprintf(&page, "\n## %s\n\n| scenario | ingresses | measured | predicted | 90 %% interval | error |\n|---|---:|---:|---:|---:|---:|\n", strings.ToUpper(f.Label[:1])+f.Label[1:])
		for _, c := range sorted {
			for _, one := range c.Figures {
				if one.Figure.Name == f.Name {
					fmt.Fprintf(&page, "| %s | %d | %s | %s | %s | %s |\n", c.Run.Scenario, c.Run.Input.Cluster.Ingresses,
						predictreport.Format(f.Unit, one.Measured), predictreport.Format(f.Unit, one.Predicted.Median), predictreport.Interval(one.Predicted), predictreport.Percent(one.Error))
				}
			}
		}
	}
	_, err := io.WriteString(w, page.String())
	return err
}
