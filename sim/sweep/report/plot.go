package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/sweep"
)

// plot is a figure against a factor, as the page's script draws it.
type plot struct {
	Name   string       `json:"name"` // of the figure
	Kind   measure.Kind `json:"kind"`
	Factor string       `json:"factor"`          // on the x axis
	Labels []string     `json:"labels"`          // the values of the factor
	At     []float64    `json:"at"`              // their places on the x axis, ascending
	Ticks  []float64    `json:"ticks,omitempty"` // the places that are labelled; none: all
	Log    bool         `json:"log"`             // the y axis is logarithmic
	Lines  []line       `json:"lines"`
	Doc    string       `json:"-"`
	LogX   bool         `json:"-"` // the x axis is logarithmic
}

// line is a line of a plot, with a value for each label, or nil if there is none.
type line struct {
	Name   string     `json:"name"`
	Values []*float64 `json:"values"`
}

// manyTimes is the ratio of the largest value to the smallest beyond which an axis is logarithmic.
const manyTimes = 10

// plots returns the plots of a document: of each figure that has values, against the first factor with
// a line per value of the second. If one factor varies at a time, against each factor. A fraction has a
// plot with all factors for each figure.
func plots(d sweep.Document) []plot {
	var all []plot
	factors := d.Design.Compared()
	for _, f := range d.Figures {
		if d.Design.Fraction != nil {
			if made := plotOfAll(f, factors, d.Rows, d.Subjects()); len(made.Lines) > 0 {
				all = append(all, made)
			}
			continue
		}
		for i, x := range factors {
			if i > 0 && !d.Design.OneAtATime {
				break
			}
			var lines sweep.Factor
			rows := d.Rows
			if d.Design.OneAtATime {
				rows = varying(rows, x)
			} else if len(factors) > 1 {
				lines = factors[1]
			}
			if made := plotOf(f, x, lines, rows, d.Subjects()); len(made.Lines) > 0 {
				all = append(all, made)
			}
		}
	}
	return append(all, drainPlots(d)...)
}

// varying returns the rows that show the effect of a factor if one factor varies at a time: those of its
// values, and that of the unchanged scenario.
func varying(rows []sweep.Row, f sweep.Factor) []sweep.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r sweep.Row) bool {
		return len(r.Combination.Settings) > 0 && r.Combination.Settings[0].Path != f.Path
	})
}

// plotOf returns the plot of a figure against the factor x, with a line per subject and value of
// by. If by has no values, the lines are those of the subjects.
func plotOf(f sweep.Figure, x, by sweep.Factor, rows []sweep.Row, subjects []string) plot {
	made := plot{Name: f.Name, Kind: f.Kind, Factor: x.Short(), Doc: f.Doc}
	var values []string
	values, made.At, made.LogX = places(x.Values)
	for _, value := range values {
		made.Labels = append(made.Labels, valueName(value))
	}
	each := by.Values
	if len(each) == 0 {
		each = []string{""}
	}
	var seen []float64
	for _, subject := range subjects {
		for _, second := range each {
			one := line{Name: lineName(subject, by, second, len(subjects) > 1)}
			for _, first := range values {
				value := meanOf(rows, func(r sweep.Row) bool {
					return r.Subject == subject && r.Combination.ValueOf(x) == first && (len(by.Values) == 0 || r.Combination.ValueOf(by) == second)
				}, f.Name)
				if one.Values = append(one.Values, value); value != nil {
					seen = append(seen, *value)
				}
			}
			if slices.ContainsFunc(one.Values, func(v *float64) bool { return v != nil }) {
				made.Lines = append(made.Lines, one)
			}
		}
	}
	made.Log = spans(seen)
	return made
}

// plotOfAll returns the plot of a figure with a line per subject and factor, between the means at the
// factor's two values.
func plotOfAll(f sweep.Figure, factors []sweep.Factor, rows []sweep.Row, subjects []string) plot {
	made := plot{Name: f.Name, Kind: f.Kind, Factor: "the values of each factor", Doc: f.Doc}
	var seen []float64
	for i, factor := range factors {
		for j, value := range factor.Values {
			made.Labels, made.At = append(made.Labels, valueName(value)), append(made.At, float64(3*i+j))
		}
	}
	for _, subject := range subjects {
		for i, factor := range factors {
			one := line{Name: factor.Short(), Values: make([]*float64, len(made.At))}
			if len(subjects) > 1 {
				one.Name = subject + ", " + one.Name
			}
			found := false
			for j, value := range factor.Values {
				mean := meanOf(rows, func(r sweep.Row) bool { return r.Subject == subject && r.Combination.ValueOf(factor) == value }, f.Name)
				if one.Values[2*i+j] = mean; mean != nil {
					found, seen = true, append(seen, *mean)
				}
			}
			if found {
				made.Lines = append(made.Lines, one)
			}
		}
	}
	made.Log = spans(seen)
	return made
}

func lineName(subject string, by sweep.Factor, value string, several bool) string {
	var parts []string
	if several {
		parts = append(parts, subject)
	}
	if len(by.Values) > 0 {
		parts = append(parts, by.Short()+"="+valueName(value))
	}
	if len(parts) == 0 {
		return subject
	}
	return strings.Join(parts, ", ")
}

// meanOf returns the mean of a figure over some rows, or nil if they have no values.
func meanOf(rows []sweep.Row, of func(sweep.Row) bool, figure string) *float64 {
	sum, n := 0.0, 0
	for _, r := range rows {
		if value, ok := r.Values[figure]; ok && of(r) {
			sum, n = sum+value, n+1
		}
	}
	if n == 0 {
		return nil
	}
	return new(sum / float64(n))
}

// spans reports whether all values are positive and the largest is many times the smallest.
func spans(values []float64) bool {
	return len(values) > 0 && slices.Min(values) > 0 && slices.Max(values)/slices.Min(values) > manyTimes
}

// places returns the values of a factor in the order of an axis, with their places: the numbers, or
// their logarithms if the range is large. Values are spaced evenly, in their order, if they are not
// numbers. They are also spaced evenly if two of them are equal, because places must be distinct.
func places(values []string) (sorted []string, at []float64, logarithmic bool) {
	numbers := numbersOf(values)
	if numbers == nil {
		return values, evenly(len(values)), false
	}
	sorted = slices.SortedStableFunc(slices.Values(values), func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	for _, value := range sorted {
		at = append(at, numbers[value])
	}
	if len(slices.Compact(slices.Clone(at))) < len(at) {
		return sorted, evenly(len(at)), false
	}
	if logarithmic = spans(at); logarithmic {
		for i := range at {
			at[i] = math.Log10(at[i])
		}
	}
	return sorted, at, logarithmic
}

// evenly returns n places at even distances.
func evenly(n int) (at []float64) {
	for i := range n {
		at = append(at, float64(i))
	}
	return at
}

// numbersOf returns the values of a factor as numbers, all parsed in the same way, because 500m can be
// half a processor or 500 minutes. It returns nil if no way fits all values.
func numbersOf(values []string) map[string]float64 {
	for _, read := range []func(string) (float64, error){inSecondsOf, finite, perSecond, quantity} {
		numbers := map[string]float64{}
		for _, value := range values {
			if number, err := read(value); err == nil {
				numbers[value] = number
			}
		}
		if len(numbers) == len(values) {
			return numbers
		}
	}
	return nil
}

func inSecondsOf(duration string) (float64, error) {
	d, err := time.ParseDuration(duration)
	return d.Seconds(), err
}

func finite(number string) (float64, error) {
	n, err := strconv.ParseFloat(number, 64)
	if err == nil && (math.IsInf(n, 0) || math.IsNaN(n)) {
		err = strconv.ErrRange
	}
	return n, err
}

func perSecond(rate string) (float64, error) {
	r, err := scenario.ParseRate(rate)
	return float64(r), err
}

func quantity(text string) (float64, error) {
	q, err := resource.ParseQuantity(text)
	return q.AsApproximateFloat64(), err
}
