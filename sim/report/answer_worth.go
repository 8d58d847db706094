package report

import (
	"cmp"
	"fmt"
	"slices"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/measure"
)

// mostNoticed limits the moments that a report lists first: those with the most failed requests.
const mostNoticed = 5

// worthOf returns what is worth a look: the moments in which requests failed, and what else went
// wrong with a subject.
func worthOf(result measure.Result, series measure.Series) []notice {
	all, rest := momentNotices(series)
	if rest != "" {
		all = append(all, notice{rest, "time"})
	}
	for _, s := range result.Subjects {
		all = append(all, troubles(s)...)
	}
	return all
}

// momentNotices returns the moments with the most failed requests, and a text about the others.
func momentNotices(series measure.Series) (all []notice, rest string) {
	var moments []moment
	others := 0
	for i, t := range series.Subjects {
		moments = append(moments, momentsOf(i, t)...)
		others += t.OtherMoments
	}
	most := slices.Clone(moments)
	slices.SortStableFunc(most, func(a, b moment) int { return cmp.Compare(b.Failed, a.Failed) })
	least := most[:min(mostNoticed, len(most))]
	for _, m := range moments {
		if slices.ContainsFunc(least, func(l moment) bool { return l.ID == m.ID }) {
			all = append(all, notice{m.Sentence + ".", m.ID})
		}
	}
	if others += len(moments) - len(all); others > 0 {
		rest = fmt.Sprintf("Requests also failed at %s, fewer each time.", plural.Of(others, "other moment"))
	}
	return all, rest
}

// troubles returns what went wrong with a subject apart from failed requests.
func troubles(s measure.Subject) (all []notice) {
	add := func(n int, link, one, many string) {
		if n > 0 {
			all = append(all, notice{count(n) + " " + plural.Noun(n, one, many) + ".", link})
		}
	}
	add(s.Changes.Unconverged, "worst", "change did not reach every worker of "+s.Name+" in time", "changes did not reach every worker of "+s.Name+" in time")
	add(s.Changes.Failed, "worst", "change of "+s.Name+" was refused by the API server", "changes of "+s.Name+" were refused by the API server")
	if s.WhyNot("workers.crashed") == "" {
		add(s.Workers.Crashed, "generations", "worker of "+s.Name+" crashed or was killed", "workers of "+s.Name+" crashed or were killed")
	}
	if n := len(s.Trouble); n > 0 {
		text := fmt.Sprintf("The harness reported a problem with %s: %s", s.Name, s.Trouble[0])
		if n > 1 {
			text += fmt.Sprintf(" (and %d more)", n-1)
		}
		all = append(all, notice{text + ".", "environment"})
	}
	return all
}
