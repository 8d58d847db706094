package regress

import (
	"cmp"
	"maps"
	"slices"
)

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// byFrequency puts kinds with more blocks first.
func byFrequency(a, b Kind) int {
	return cmp.Or(
		cmp.Compare(b.Blocks, a.Blocks), cmp.Compare(a.Place, b.Place), cmp.Compare(a.Directive, b.Directive),
		cmp.Compare(a.Change, b.Change), cmp.Compare(causeText(a.Cause), causeText(b.Cause)),
	)
}

// byImportance puts failures that are a difference first, and those of head before those of base.
func byImportance(a, b Failure) int {
	rank := map[string]int{SideHead: 0, SideBase: 1, SidesBoth: 2}
	return cmp.Or(cmp.Compare(rank[a.Sides], rank[b.Sides]), cmp.Compare(b.Clusters, a.Clusters), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Reason, b.Reason))
}

func causeText(c *Cause) string {
	if c == nil {
		return ""
	}
	return c.Side + " " + c.String()
}
