// Package report shows the numbers of a run: in a terminal, as result.json and
// as one HTML page. It stands between the measurements and whoever reads them.
// Its one rule: it shows what it is given and computes nothing but how to
// write it.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/measure"
)

// Outcome is what became of one expectation of one subject.
type Outcome struct {
	Subject string `json:"subject"`
	expect.Verdict
}

// Document is result.json: the result, and the outcomes beside its fields. Its
// schema is docs/result.schema.json; docs/result.md is that for people.
type Document struct {
	measure.Result
	Outcomes []Outcome `json:"outcomes"` // of every expectation of every subject
}

// JSON writes result.json. Durations are nanoseconds.
func JSON(w io.Writer, result measure.Result, outcomes []Outcome) error {
	if outcomes == nil {
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
