package report

import (
	"fmt"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/measure"
	runreport "windtunnel.dev/sim/report"
	"windtunnel.dev/sim/sweep"
)

// none is shown in place of a figure without a value.
const none = "–"

// ownValue names a value that the scenario's file does not have.
const ownValue = "default"

// valueName returns the name of a factor's value in reports.
func valueName(value string) string {
	if value == "" {
		return ownValue
	}
	return value
}

// header returns the names of the columns: number, factors, subject if there are several, runs, figures.
func header(d sweep.Document) []string {
	all := []string{"#"}
	for _, f := range d.Design.Factors {
		all = append(all, f.Short())
	}
	if len(d.Subjects()) > 1 {
		all = append(all, "subject")
	}
	all = append(all, "valid runs")
	for _, f := range d.Figures {
		all = append(all, f.Name)
	}
	return all
}

// row returns the cells of a row, in the order of header.
func row(d sweep.Document, r sweep.Row) []string {
	all := []string{fmt.Sprint(r.Combination.Number)}
	for _, f := range d.Design.Factors {
		all = append(all, valueName(r.Combination.ValueOf(f)))
	}
	if len(d.Subjects()) > 1 {
		all = append(all, r.Subject)
	}
	runs := fmt.Sprint(r.Runs)
	if r.Void > 0 {
		runs = fmt.Sprintf("%d (%d void)", r.Runs, r.Void)
	}
	all = append(all, runs)
	for _, f := range d.Figures {
		all = append(all, cell(f.Kind, r, f.Name))
	}
	return all
}

func cell(kind measure.Kind, r sweep.Row, figure string) string {
	value, ok := r.Values[figure]
	if !ok {
		return none
	}
	return runreport.Value(kind, value)
}

// effectHeader returns the columns of effects.
func effectHeader(d sweep.Document) []string {
	return withAliases(d, []string{"figure", "factor", "from", "to", "mean at from", "difference", "95 % interval"}, "confounded with")
}

// interactionHeader returns the columns of interactions.
func interactionHeader(d sweep.Document) []string {
	return withAliases(d, []string{"figure", "factors", "difference", "95 % interval"}, "confounded with")
}

// withAliases adds the cell with the aliases of an effect, if the sweep is a fraction.
func withAliases(d sweep.Document, row []string, cell string) []string {
	if d.Design.Fraction == nil {
		return row
	}
	return append(row, cell)
}

// effectRows returns the main effects that are significant, or whose scatter is unknown. It returns
// none for a single factor, because the table of combinations shows its effects.
func effectRows(d sweep.Document) [][]string {
	var all [][]string
	for _, e := range d.Effects {
		if len(d.Design.Factors) < 2 || e.Known && !e.Matters() {
			continue
		}
		kind := kindOf(d, e.Figure)
		all = append(all, withAliases(d, []string{
			figureOf(d, e.Subject, e.Figure), shortOf(e.Path), valueName(e.From), valueName(e.To),
			runreport.Value(kind, e.Base), signed(kind, e.Mean), interval(kind, e.Difference),
		}, aliases(e.Aliases)))
	}
	return all
}

// interactionRows returns the interactions.
func interactionRows(d sweep.Document) [][]string {
	var all [][]string
	for _, i := range d.Interactions {
		kind := kindOf(d, i.Figure)
		all = append(all, withAliases(d, []string{
			figureOf(d, i.Subject, i.Figure), product(i.Paths[:]...), signed(kind, i.Mean), interval(kind, i.Difference),
		}, aliases(i.Aliases)))
	}
	return all
}

func figureOf(d sweep.Document, subject, figure string) string {
	if len(d.Subjects()) > 1 {
		return figure + " of " + subject
	}
	return figure
}

func kindOf(d sweep.Document, figure string) measure.Kind {
	for _, f := range d.Figures {
		if f.Name == figure {
			return f.Kind
		}
	}
	return measure.Number
}

// signed formats a difference with its sign.
func signed(kind measure.Kind, value float64) string {
	if value < 0 {
		return "-" + runreport.Value(kind, -value)
	}
	return "+" + runreport.Value(kind, value)
}

func interval(kind measure.Kind, d sweep.Difference) string {
	if !d.Known {
		return "unknown"
	}
	return signed(kind, d.Low) + " … " + signed(kind, d.High)
}

// headline describes the sweep in one line.
func headline(d sweep.Document) string {
	var factors []string
	for _, f := range d.Design.Factors {
		factors = append(factors, fmt.Sprintf("%s (%s)", f.Path, strings.Join(f.Values, ", ")))
	}
	how := "in all combinations"
	switch {
	case len(factors) == 1:
		how = "alone"
	case d.Design.OneAtATime:
		how = "one at a time"
	case d.Design.Fraction != nil:
		how = "in " + d.Design.Fraction.String()
	}
	return fmt.Sprintf("%s, with %s varied %s, %s each, seed %d, driver %s",
		d.Scenario, strings.Join(factors, " and "), how, plural.Of(d.Design.Rounds, "run"), d.Design.Seed, d.Driver)
}

// notes returns notes on how to read the tables, and on missing runs.
func notes(d sweep.Document) []string {
	var all []string
	if d.Interrupted {
		all = append(all, fmt.Sprintf("The sweep is incomplete: it has %s. Continue it with --resume.", plural.Of(len(d.Runs), "run")))
	}
	void := 0
	for _, r := range d.Rows {
		void += r.Void
	}
	if void > 0 {
		all = append(all, plural.Of(void, "run")+" of a subject stayed void: the machine was too busy to measure. The values do not include them; --resume repeats them.")
	}
	for _, run := range d.Runs {
		if run.Note != "" && run.Outcome != "passed" {
			all = append(all, fmt.Sprintf("%s: %s: %s.", run.Dir, run.Outcome, strings.TrimSuffix(run.Note, ".")))
		}
	}
	if d.Design.Rounds > 1 {
		all = append(all, "A value is the mean of the valid runs.")
	}
	all = append(all, drainNotes(d)...)
	if len(d.Design.Factors) < 2 {
		return all
	}
	return append(all, effectNotes(d)...)
}

func effectNotes(d sweep.Document) []string {
	var all []string
	chance := 0
	for _, e := range d.Effects {
		if e.Known && !e.Matters() {
			chance++
		}
	}
	if chance > 0 {
		all = append(all, fmt.Sprintf("Not listed: %s whose interval contains zero.", plural.Of(chance, "main effect")))
	}
	all = append(all, "A main effect is the mean difference from the first value of the factor, over the combinations of the others. The intervals are not corrected for multiple comparisons: one in twenty misses the true value.")
	all = append(all, fractionNotes(d)...)
	switch {
	case d.Design.OneAtATime:
		all = append(all, "Interactions cannot be estimated if factors vary one at a time.")
	case d.Design.Rounds == 1 && len(d.Design.Factors) == 2:
		all = append(all, "The intervals come from the variation between combinations. With one run per combination, interactions of two factors cannot be estimated: use --rounds 2 or more.")
	case len(d.Interactions) == 0:
		all = append(all, "The interval of every interaction contains zero.")
	default:
		all = append(all, "An interaction is the effect of the first factor's last value at the last value of the second factor, minus its effect at the first value.")
	}
	return all
}
