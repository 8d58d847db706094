// Package report shows the numbers of a run: in a terminal, as result.json and
// as one HTML page. It stands between the measurements and whoever reads them.
// Its one rule: it shows what it is given and computes nothing but how to
// write it.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/measure"
)

// Outcome is the result of one expectation for one subject.
type Outcome struct {
	Subject string `json:"subject"`
	// Void means that the run of the subject is void: the expectation is not judged and not met,
	// whatever the values.
	Void bool `json:"void"`
	expect.Verdict
}

// Judged returns the outcomes, without any that is met if the run is void.
func Judged(result measure.Result, outcomes []Outcome) []Outcome {
	void := map[string]bool{}
	for _, s := range result.Subjects {
		void[s.Name] = !s.Valid
	}
	judged := slices.Clone(outcomes)
	for i := range judged {
		if void[judged[i].Subject] {
			judged[i].Void, judged[i].OK = true, false
		}
	}
	return judged
}

// word returns the verdict in words.
func (o Outcome) word() string {
	switch {
	case o.Void:
		return notJudged
	case o.OK:
		return "met"
	}
	return "not met"
}

const notJudged = "not judged"

// voids returns the subjects whose run is void.
func voids(result measure.Result) (names []string) {
	for _, s := range result.Subjects {
		if !s.Valid {
			names = append(names, s.Name)
		}
	}
	return names
}

// tally counts the outcomes: met, not met, not judged.
func tally(outcomes []Outcome) (met, failed, void int) {
	for _, o := range outcomes {
		switch {
		case o.Void:
			void++
		case o.OK:
			met++
		default:
			failed++
		}
	}
	return met, failed, void
}

// Document is result.json: the fields of the result, and the outcomes. docs/result.schema.json is
// its schema, and docs/result.md describes it for readers.
type Document struct {
	measure.Result
	Outcomes []Outcome `json:"outcomes"` // of every expectation of every subject
}

// JSON writes result.json. Durations are nanoseconds.
func JSON(w io.Writer, result measure.Result, outcomes []Outcome) error {
	if outcomes = Judged(result, outcomes); outcomes == nil {
		outcomes = []Outcome{}
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(Document{result, outcomes}); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}
