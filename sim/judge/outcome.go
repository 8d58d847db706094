// Package judge decides what a trial comes to. It stands between the measurements of a run
// and everyone who must act on them: reports, tables, exit codes. Its one rule: a void run
// says nothing about its subject, so void comes before failed, and only Of has that order.
package judge

import "slices"

// Outcome is what a trial comes to, or several trials together.
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

// Outcomes are all of them.
var Outcomes = []Outcome{Passed, Failed, Void, Skipped, Inapplicable, NotRun, Interrupted}

// bySeverity are the outcomes that several trials can come to, the most severe first. A
// skipped trial is not among them, nor one that does not apply: a driver that cannot run a
// scenario is expected, and so is a subject without what the scenario is about.
var bySeverity = []Outcome{Interrupted, NotRun, Failed, Void}

// Worst returns the outcome of several trials: the most severe. One trial that failed is a
// failure, whether or not another one was void.
func Worst(outcomes ...Outcome) Outcome {
	for _, grave := range bySeverity {
		if slices.Contains(outcomes, grave) {
			return grave
		}
	}
	return Passed
}
