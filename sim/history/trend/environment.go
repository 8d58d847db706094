package trend

import (
	"maps"
	"slices"
)

// differences returns the properties of the machine that no run before a step has in common with a run
// after it. Such a property, or the change of the commits, or both may be the cause.
func (t *Trend) differences(before, after []Point) []Difference {
	old, now := t.environments(before), t.environments(after)
	names := maps.Clone(old)
	maps.Copy(names, now)
	var all []Difference
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d := Difference{Name: name, Before: slices.Sorted(maps.Keys(old[name])), After: slices.Sorted(maps.Keys(now[name]))}
		if len(d.Before) > 0 && len(d.After) > 0 && !slices.ContainsFunc(d.After, func(value string) bool { return old[name][value] }) {
			all = append(all, d)
		}
	}
	return all
}

// environments returns the values of each property of the machine in the runs of points.
func (t *Trend) environments(points []Point) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, p := range points {
		for _, run := range p.Runs {
			for name, value := range t.Runs[run].Environment {
				if all[name] == nil {
					all[name] = map[string]bool{}
				}
				all[name][value] = true
			}
		}
	}
	return all
}
