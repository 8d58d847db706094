// Package report shows the numbers of a run: in a terminal, as result.json, as one HTML page, as
// Markdown, for CI systems and for benchstat. It stands between the measurements and their readers.
// Its one rule: it shows the numbers that it gets, and decides only how to show them.
package report

import (
	"fmt"
	"io"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// voidSubjects returns the subjects whose run is void.
func voidSubjects(result measure.Result) (names []string) {
	for _, s := range result.Subjects {
		if !s.Valid {
			names = append(names, s.Name)
		}
	}
	return names
}

// countChecks counts the checks by verdict.
func countChecks(checks []judge.Check) map[judge.Verdict]int {
	count := map[judge.Verdict]int{}
	for _, c := range checks {
		count[c.Verdict()]++
	}
	return count
}

// Document is the content of result.json: the fields of measure.Result, and the checks.
type Document struct {
	measure.Result
	Checks []judge.Check `json:"outcomes"` // of every expectation of every subject
}

// JSON writes result.json. Durations are in nanoseconds. Expectations that are not judged, or do not
// apply, have ok false.
func JSON(w io.Writer, result measure.Result, checks []judge.Check) error {
	checks = append([]judge.Check{}, checks...) // never null
	for i := range checks {
		checks[i].OK = checks[i].Verdict() == judge.Met
	}
	if err := Indented(w, Document{result, checks}); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}
