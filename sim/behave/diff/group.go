package diff

import (
	"fmt"
	"slices"
)

// Group is the differences of one effect.
type Group struct {
	Effect Effect
	Alike  []Alike
	Steps  int
}

// Alike are the steps that differ in the same way.
type Alike struct {
	Difference // the first
	Others     []Difference
}

// Place returns the step with its place in the file.
func (d Difference) Place() string { return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Step) }

// join returns the group of differences with the same values and causes as d, or nil.
func (g *Group) join(d Difference) *Alike {
	for n := range g.Alike {
		if one := &g.Alike[n]; slices.Equal(one.Values, d.Values) && slices.Equal(one.Causes, d.Causes) {
			return one
		}
	}
	return nil
}

// Groups returns differences, which are in the order of their effects, by effect.
func Groups(differences []Difference) []Group {
	var all []Group
	for _, one := range differences {
		if n := len(all); n == 0 || all[n-1].Effect != one.Effect {
			all = append(all, Group{Effect: one.Effect})
		}
		last := &all[len(all)-1]
		last.Steps++
		if same := last.join(one); same != nil {
			same.Others = append(same.Others, one)
		} else {
			last.Alike = append(last.Alike, Alike{Difference: one})
		}
	}
	return all
}
