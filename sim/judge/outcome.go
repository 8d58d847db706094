// Package judge decides the outcome of a trial. It stands between the measurements of a run and
// everything that acts on them: reports, tables, exit codes. Its one rule: a void run says nothing
// about its subject, so void comes before failed, and only Of decides this order.
package judge

import "slices"

// Outcome is the outcome of a trial, or of several trials together.
type Outcome string

// The outcomes.
const (
	Passed      Outcome = "passed"      // every expectation is met
	Failed      Outcome = "failed"      // an expectation is not met, or a subject died
	Void        Outcome = "void"        // the run says nothing about a subject
	Skipped     Outcome = "skipped"     // the driver cannot do what the scenario asks for
	NotRun      Outcome = "not run"     // the trial could not be done
	Interrupted Outcome = "interrupted" // the user ended it

	Inapplicable Outcome = "not applicable" // no expectation applies to a subject; its run is measured
)

// Outcomes lists all outcomes.
var Outcomes = []Outcome{Passed, Failed, Void, Skipped, Inapplicable, NotRun, Interrupted}

// bySeverity are the outcomes that several trials together can have, the most severe first. Skipped
// and inapplicable trials do not count: it is expected that a driver cannot run some scenarios, and
// that a subject lacks what a scenario is about.
var bySeverity = []Outcome{Interrupted, NotRun, Failed, Void}

// Worst returns the outcome of several trials, which is the most severe one. A failed trial means
// failure, even if another trial was void.
func Worst(outcomes ...Outcome) Outcome {
	for _, grave := range bySeverity {
		if slices.Contains(outcomes, grave) {
			return grave
		}
	}
	return Passed
}
