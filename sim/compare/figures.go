package compare

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"windtunnel.dev/sim/measure"
)

// Select are the figures that patterns name, in the order of measure.Figures;
// without a pattern all. A pattern is a name, or the names that a * stands for, as
// in requests.*. The error of one that names none lists the figures.
func Select(patterns []string) ([]measure.Figure, error) {
	all := measure.Figures()
	if len(patterns) == 0 {
		return all, nil
	}
	chosen := map[string]bool{}
	for _, pattern := range patterns {
		known := false
		for _, figure := range all {
			if ok, _ := path.Match(pattern, figure.Name); ok {
				chosen[figure.Name], known = true, true
			}
		}
		if !known {
			return nil, UnknownFigure(pattern)
		}
	}
	return slices.DeleteFunc(all, func(f measure.Figure) bool { return !chosen[f.Name] }), nil
}

// UnknownFigure is the error for a name that no figure has.
func UnknownFigure(name string) error {
	var names []string
	for _, figure := range measure.Figures() {
		names = append(names, figure.Name)
	}
	return fmt.Errorf("there is no figure %q; the figures are %s", name, strings.Join(names, ", "))
}

// figures are those that are compared; budgets of others are mistakes.
func (o Options) figures() ([]measure.Figure, error) {
	chosen, err := Select(o.Figures)
	if err != nil {
		return nil, err
	}
	for name := range o.Budgets {
		if !slices.ContainsFunc(measure.Figures(), func(f measure.Figure) bool { return f.Name == name }) {
			return nil, UnknownFigure(name)
		}
	}
	return chosen, nil
}
