package behaviour

import (
	"bytes"
	"slices"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/clusterfiles"
)

// Affected returns the cases for which two sides, which differ in their templates only, render
// different configurations. It includes cases that the rendering of their first objects does not decide:
// those with flags, certificates or changes, and those that a side cannot render.
func Affected(cases []*behave.Case, base, head regress.Side) []*behave.Case {
	var all []*behave.Case
	for _, c := range cases {
		if !sameFor(c, base, head) {
			all = append(all, c)
		}
	}
	return all
}

// AffectedGroups is Affected for the groups of a corpus.
func AffectedGroups(groups []*derive.Case, base, head regress.Side) []*derive.Case {
	return slices.DeleteFunc(slices.Clone(groups), func(group *derive.Case) bool { return sameFor(&group.Case, base, head) })
}

func sameFor(c *behave.Case, base, head regress.Side) bool {
	if len(c.Flags) > 0 || len(c.Certificates) > 0 {
		return false
	}
	for _, step := range c.Steps {
		if step.Request.Request == "" {
			return false
		}
	}
	manifests, err := clusterfiles.OfCase(c)
	if err != nil {
		return false
	}
	cluster := regress.NewCluster(c.Name, manifests)
	was, wasErr := base.Render(cluster)
	is, isErr := head.Render(cluster)
	return wasErr == nil && isErr == nil && bytes.Equal(was, is)
}
