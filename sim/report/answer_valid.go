package report

import (
	"fmt"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// soundness is whether the figures of a run can be relied on.
type soundness string

// The kinds of soundness.
const (
	sound   soundness = "yes"
	partial soundness = "partly"
	unsound soundness = "no"
)

// validOf says whether the figures can be relied on, and if not, why.
func validOf(result measure.Result, checks []judge.Check) (string, soundness) {
	void := voidSubjects(result)
	switch {
	case len(result.Subjects) == 0:
		return "No: the run has no subject.", unsound
	case len(void) == 0:
		return "Yes: the load generator, the probes and the machine kept up, so the figures can be relied on.", sound
	case len(void) < len(result.Subjects):
		return fmt.Sprintf("Partly: %s. The figures of %s can be relied on.%s",
			reasonsOf(result), listOf(soundSubjects(result)), notJudgedOf(checks)), partial
	}
	return fmt.Sprintf("No: %s. Do not rely on %s figures.%s", reasonsOf(result), plural.Noun(len(void), "its", "their"), notJudgedOf(checks)), unsound
}

// reasonsOf says why the run is void for each void subject. A reason that applies to all subjects
// of a run is given once.
func reasonsOf(result measure.Result) string {
	var reasons []string
	for _, s := range result.Subjects {
		if !s.Valid {
			reasons = append(reasons, reasonOf(s))
		}
	}
	if same(reasons) {
		return runsAreVoid(result) + ", because " + reasons[0]
	}
	for i, name := range voidSubjects(result) {
		reasons[i] = fmt.Sprintf("that of %s because %s", name, reasons[i])
	}
	return runsAreVoid(result) + ", " + listOf(reasons)
}

// runsAreVoid says which runs are void.
func runsAreVoid(result measure.Result) string {
	names := voidSubjects(result)
	return fmt.Sprintf("the %s of %s %s void", plural.Noun(len(names), "run"), listOf(names), plural.Noun(len(names), "is", "are"))
}

func same(texts []string) bool {
	for _, text := range texts {
		if text != texts[0] {
			return false
		}
	}
	return true
}

// reasonOf returns the first reason why the run of a subject is void, and how many more there are.
func reasonOf(s measure.Subject) string {
	if n := len(s.Invalid); n > 1 {
		return fmt.Sprintf("%s (and for %s)", s.WhyInvalid(), plural.Of(n-1, "other reason"))
	}
	return s.WhyInvalid()
}

func soundSubjects(result measure.Result) (names []string) {
	for _, s := range result.Subjects {
		if s.Valid {
			names = append(names, s.Name)
		}
	}
	return names
}

func notJudgedOf(checks []judge.Check) string {
	n := countChecks(checks)[judge.NotJudged]
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %s not judged.", plural.Of(n, "expectation is", "expectations are"))
}
