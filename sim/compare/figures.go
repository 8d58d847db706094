package compare

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"windtunnel.dev/sim/measure"
)

// Select returns the figures that match the patterns, in the order of measure.Figures. Without
// patterns, it returns all figures. In a pattern, * matches any characters, as in requests.*. If a
// pattern matches no figure, the error lists the figures.
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

// UnknownFigure returns the error for a name that is not a figure.
func UnknownFigure(name string) error {
	var names []string
	for _, figure := range measure.Figures() {
		names = append(names, figure.Name)
	}
	return fmt.Errorf("there is no figure %q; the figures are %s", name, strings.Join(names, ", "))
}

// figures returns the figures to compare; a budget of any other figure is an error.
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
