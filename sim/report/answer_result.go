package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// mostTold limits the subjects that the result describes one by one.
const mostTold = 3

// resultOf says what the result is: which expectations are met, and what each subject did.
func resultOf(result measure.Result, checks []judge.Check) string {
	told := slices.Clone(result.Subjects)
	if len(told) > mostTold {
		slices.SortStableFunc(told, func(a, b measure.Subject) int { return cmp.Compare(b.Requests.Failed, a.Requests.Failed) })
	}
	var clauses []string
	for _, s := range told[:min(mostTold, len(told))] {
		clauses = append(clauses, clauseOf(s))
	}
	if rest := told[min(mostTold, len(told)):]; len(rest) > 0 {
		clauses = append(clauses, restOf(rest))
	}
	if len(clauses) == 0 {
		return expectedOf(checks) + "."
	}
	return expectedOf(checks) + ": " + strings.Join(clauses, "; ") + "."
}

// expectedOf says how many expectations are met.
func expectedOf(checks []judge.Check) string {
	count := countChecks(checks)
	judged := count[judge.Met] + count[judge.NotMet]
	text := ""
	switch {
	case len(checks) == 0:
		return "No expectations are set"
	case count[judge.NotApplicable] == len(checks):
		return "No expectation applies (" + checks[0].NotApplicable + ")"
	case judged == 0:
		return "No expectation is judged"
	case count[judge.NotMet] > 0:
		text = fmt.Sprintf("%d of %s %s not met", count[judge.NotMet], plural.Of(judged, "expectation"), plural.Noun(count[judge.NotMet], "is", "are"))
	case judged == 1:
		text = "The expectation is met"
	default:
		text = fmt.Sprintf("All %d expectations are met", judged)
	}
	var more []string
	if n := count[judge.NotApplicable]; n > 0 {
		more = append(more, fmt.Sprintf("%d more %s not apply", n, plural.Noun(n, "does", "do")))
	}
	if n := count[judge.NotJudged]; n > 0 {
		more = append(more, fmt.Sprintf("%d more %s not judged", n, plural.Noun(n, "is", "are")))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// clauseOf says what a subject did: its reloads, how fast changes arrived, and what clients lost.
func clauseOf(s measure.Subject) string {
	var did []string
	if s.WhyNot("reloads") == "" {
		did = append(did, reloaded(s.Reloads))
	}
	if last := s.Converge.Last; last.N > 0 && s.WhyNot("converge.last") == "" {
		did = append(did, "took "+duration(last.P50)+" (median) to serve a change on every worker")
	}
	did = append(did, lost(s.Requests))
	if len(did) > 2 {
		return s.Name + " " + strings.Join(did[:len(did)-1], ", ") + ", and " + did[len(did)-1]
	}
	return s.Name + " " + listOf(did)
}

func reloaded(n int) string {
	switch n {
	case 0:
		return "never reloaded"
	case 1:
		return "reloaded once"
	case 2:
		return "reloaded twice"
	}
	return "reloaded " + count(n) + " times"
}

func lost(r measure.Requests) string {
	switch {
	case r.Sent == 0:
		return "got no traffic"
	case r.Failed == 0:
		return "lost none of " + count(r.Sent) + " " + plural.Noun(r.Sent, "request")
	}
	return fmt.Sprintf("lost %s of %s %s (%s)", count(r.Failed), count(r.Sent), plural.Noun(r.Sent, "request"), causesOf(r.Causes))
}

// restOf sums up the subjects that are not described one by one.
func restOf(subjects []measure.Subject) string {
	var sum measure.Requests
	for _, s := range subjects {
		sum.Sent += s.Requests.Sent
		sum.Failed += s.Requests.Failed
	}
	who := "the other " + plural.Of(len(subjects), "subject")
	if len(subjects) == 1 {
		who = "the other subject"
	}
	switch {
	case sum.Sent == 0:
		return who + " got no traffic"
	case sum.Failed == 0:
		return who + " lost no request"
	}
	return fmt.Sprintf("%s lost %s of %s requests", who, count(sum.Failed), count(sum.Sent))
}
