package report

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/sim/sweep"
)

// fractionHeader are the columns of the table that describes a fraction.
var fractionHeader = []string{"property", "value"}

// fractionRows describe which combinations a fraction runs, and which effects it cannot distinguish.
func fractionRows(d sweep.Document) [][]string {
	f := d.Design.Fraction
	if f == nil {
		return nil
	}
	all := [][]string{
		{"runs", fmt.Sprintf("%d of %d combinations", combinations(d)/f.Of, combinations(d))},
		{"resolution", resolution(f.Resolution)},
	}
	for _, g := range f.Generators {
		all = append(all, []string{"generator", shortOf(g.Path) + " = " + product(g.Product...)})
	}
	for _, c := range f.Confounded {
		all = append(all, []string{"confounded", together(c)})
	}
	return all
}

// combinations returns the number of all combinations of the factors.
func combinations(d sweep.Document) int {
	count := 1
	for _, f := range d.Design.Factors {
		count *= len(f.Values)
	}
	return count
}

// resolution explains a resolution, with its customary Roman numeral.
func resolution(n int) string {
	numerals := []string{"III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI"}
	numeral := fmt.Sprint(n)
	if n >= 3 && n-3 < len(numerals) {
		numeral = numerals[n-3]
	}
	switch {
	case n <= 3:
		return numeral + ": main effects are confounded with interactions of two factors"
	case n == 4:
		return numeral + ": main effects are clear of interactions of two factors, some of which are confounded with each other"
	}
	return numeral + ": main effects and interactions of two factors are clear of each other"
}

// together names the effects of a group.
func together(c sweep.Confounded) string {
	all := pairs(c.Pairs)
	if c.Path != "" {
		all = append([]string{shortOf(c.Path)}, all...)
	}
	return strings.Join(all, ", ")
}

// aliases names the interactions with which an effect is confounded.
func aliases(of [][2]string) string {
	if len(of) == 0 {
		return "none"
	}
	return strings.Join(pairs(of), ", ")
}

func pairs(of [][2]string) []string {
	var all []string
	for _, pair := range of {
		all = append(all, product(pair[:]...))
	}
	return all
}

// product names an interaction by the paths of its factors.
func product(paths ...string) string {
	var all []string
	for _, path := range paths {
		all = append(all, shortOf(path))
	}
	return strings.Join(all, " × ")
}

func shortOf(path string) string { return sweep.Factor{Path: path}.Short() }

// fractionNotes returns notes on how to read the effects of a fraction.
func fractionNotes(d sweep.Document) []string {
	if d.Design.Fraction == nil {
		return nil
	}
	all := []string{
		"A generator gives a factor its last value where an even number of the factors on the right have their first value.",
		"Confounded: a main effect contains half of the interaction of each pair beside it, and an interaction contains that of each pair beside it. The runs cannot separate them. All effects are confounded with interactions of three or more factors, which are taken to be small.",
	}
	if d.Interrupted || slices.ContainsFunc(d.Rows, func(r sweep.Row) bool { return r.Void > 0 }) {
		all = append(all, "The effects of a figure are missing if the valid runs are too few to separate them.")
	}
	if unknown(d) {
		all = append(all, "The intervals are unknown: the runs suffice only for the effects themselves. Use --rounds 2 or a larger fraction.")
	}
	return all
}

// unknown reports whether effects have no interval.
func unknown(d sweep.Document) bool {
	return slices.ContainsFunc(d.Effects, func(e sweep.Effect) bool { return !e.Known })
}
