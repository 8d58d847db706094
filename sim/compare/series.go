package compare

import (
	"slices"

	"windtunnel.dev/sim/measure"
)

// Series contains the measured values of one figure on both sides, in the order of measurement.
type Series struct {
	Name       string
	Kind       measure.Kind
	Budget     measure.Budget
	Base, Head []float64
}

// Values compares series as Runs compares the figures of runs, and corrects the p-values of all rows
// together. As a control, it compares the odd values of base with the even ones: if they differ, the
// comparison is void.
func Values(all []Series, alpha float64) Comparison {
	o := Options{Alpha: alpha}
	var both, halves []sample
	fewest := 0
	for i, s := range all {
		figure := measure.Figure{Name: s.Name, Kind: s.Kind, Budget: s.Budget}
		both = append(both, sample{figure: figure, base: s.Base, head: s.Head})
		half := sample{figure: figure}
		for j, value := range s.Base {
			if j%2 == 0 {
				half.base = append(half.base, value)
			} else {
				half.head = append(half.head, value)
			}
		}
		halves = append(halves, half)
		if i == 0 || len(s.Base) < fewest {
			fewest = len(s.Base)
		}
	}
	var c Comparison
	c.Rows, c.Needed = judge(both, o)
	if c.Controlled = c.Needed > 0 && fewest >= 2*c.Needed; c.Controlled {
		control, _ := judge(halves, o)
		c.Control = slices.DeleteFunc(control, func(r Row) bool {
			return !r.Kind.Varies() || r.Verdict != Worse && r.Verdict != Better
		})
	}
	c.Outcome = c.outcome()
	return c
}
