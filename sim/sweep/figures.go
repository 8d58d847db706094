package sweep

import (
	"fmt"
	"slices"

	"windtunnel.dev/sim/measure"
)

// defaultFigures are the figures that a sweep shows unless others are chosen, besides the failures of
// each lane.
var defaultFigures = []string{
	"reloads",
	"converge.way.wait.p50", "converge.way.sync.p50", "converge.way.reach.p50", "converge.way.spread.p50",
	"converge.last.p50", "converge.last.p99",
	"requests.failed/reloads", "workers.alive", "memory.peakRSS",
}

// Choose returns the figures with these names, or the default ones if there are none. lanes are those
// of the scenario.
func Choose(names, lanes []string) ([]measure.Figure, error) {
	if len(names) == 0 {
		names = slices.Clone(defaultFigures)
		for _, lane := range lanes {
			names = append(names, "lanes."+lane+".failed")
		}
	}
	var all []measure.Figure
	for _, name := range names {
		f, err := measure.At(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(before measure.Figure) bool { return before.Name == f.Name }) {
			return nil, fmt.Errorf("the figure %s is given twice", f.Name)
		}
		all = append(all, f)
	}
	return all, nil
}

// Described returns the descriptions of figures for a document.
func Described(figures []measure.Figure) []Figure {
	var all []Figure
	for _, f := range figures {
		all = append(all, Figure{Name: f.Name, Kind: f.Kind, Doc: f.Doc})
	}
	return all
}
