package behave

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Outcome is how a case ended.
type Outcome string

// The outcomes of a case.
const (
	Passed   Outcome = "passed"
	Failed   Outcome = "failed"    // an expectation does not hold
	Skipped  Outcome = "skipped"   // the subject or the machine lacks what the case needs
	Differs  Outcome = "differs"   // the bundled controller differs from ingress-nginx, as the case declares
	NoLonger Outcome = "no-longer" // the case declares a difference that does not exist
	Void     Outcome = "void"      // the case could not be run, which says nothing about the subject
)

// The reason of a void case begins with one of these if the controller did not start, or if it started
// and did not serve what the case needs.
const (
	NotStarted = "the controller did not start"
	NotServing = "the controller does not serve the last change"
)

// Bad reports whether somebody must fix something.
func (o Outcome) Bad() bool { return o == Failed || o == NoLonger || o == Void }

// Result is the outcome of a case.
type Result struct {
	// The name of the case: its folder and file, without the extension.
	Case string `json:"case"`
	// The file of the case.
	File string `json:"file"`
	// How the case ended: passed, failed, skipped, differs, no-longer or void.
	Outcome Outcome `json:"outcome"`
	// Why it was skipped or is void; of a difference, the row of docs/compat.md that admits it; of a
	// failure, that the bundled controller answers in the same way.
	Reason string `json:"reason,omitempty"`
	// The expectations that do not hold.
	Failures []Failure `json:"failures,omitempty"`
	// What a live run found, for each annotation and ConfigMap key that the case covers.
	Live []LiveChange `json:"live,omitempty"`
	// How long the steps of the case took, in nanoseconds.
	Took time.Duration `json:"took,omitempty"`
}

// Record is what a run recorded of one step: exchanges of a request, or a change.
type Record struct {
	Exchanges []Exchange
	Change    *Change
}

// NotStarted reports whether the case is void because the controller did not start.
func (r Result) NotStarted() bool {
	return r.Outcome == Void && strings.HasPrefix(r.Reason, NotStarted)
}

// NotServing reports whether the case is void because the controller started and did not serve what the
// case needs.
func (r Result) NotServing() bool {
	return r.Outcome == Void && strings.HasPrefix(r.Reason, NotServing)
}

// Skip returns the result of a case that was not run.
func Skip(c *Case, reason string) Result {
	return Result{Case: c.Name, File: c.File, Outcome: Skipped, Reason: reason}
}

// Voided returns the result of a case that could not be run.
func Voided(c *Case, reason string) Result {
	return Result{Case: c.Name, File: c.File, Outcome: Void, Reason: reason}
}

// Conclude judges a whole case. records has one record for each step, in order. bundled says that
// the subject is the bundled controller.
func Conclude(c *Case, records []Record, bundled bool) Result {
	for i, step := range c.Steps {
		if i >= len(records) || len(records[i].Exchanges) == 0 && records[i].Change == nil {
			return Voided(c, fmt.Sprintf("nothing was recorded of the step at line %d: %s", step.Line, step.action()))
		}
	}
	result := Result{Case: c.Name, File: c.File, Outcome: Passed}
	found := JudgeAll(c, records, bundled)
	differs := bundled && c.Differs != ""
	if differs {
		upstream := JudgeAll(c, records, false)
		if len(upstream.Failures)+len(upstream.Unknown) == 0 {
			result.Outcome, result.Failures = NoLonger, []Failure{noLonger(c)}
			return result
		}
	}
	switch {
	case len(found.Failures) > 0:
		result.Outcome, result.Failures = Failed, found.Failures
		if !bundled && c.Differs != "" && len(JudgeAll(c, records, true).Failures) == 0 {
			result.Reason = fmt.Sprintf("the bundled controller gives this answer, as %s documents; if this is a build of it, add --bundled", c.Differs)
		}
	case len(found.Unknown) > 0:
		result.Outcome, result.Reason = Skipped, strings.Join(found.Unknown, "; ")
	case differs:
		result.Outcome, result.Reason = Differs, c.Differs
	}
	return result
}

// JudgeAll judges all steps of a case. records has one record for each step, in order.
func JudgeAll(c *Case, records []Record, bundled bool) Judgement {
	var all Judgement
	for i, step := range c.Steps {
		var found Judgement
		if change := records[i].Change; change != nil {
			found = JudgeChange(c, step, *change, bundled)
		} else {
			found = Judge(c, step, records[i].Exchanges, bundled)
		}
		all.Failures = append(all.Failures, found.Failures...)
		all.Unknown = append(all.Unknown, found.Unknown...)
	}
	slices.Sort(all.Unknown)
	all.Unknown = slices.Compact(all.Unknown)
	return all
}

// noLonger returns the failure of a case that declares a difference which does not exist.
func noLonger(c *Case) Failure {
	failure := Failure{File: c.File, Step: "differs", Field: "the bundled controller", Got: "like ingress-nginx", Want: "a difference; remove differs: and bundled:"}
	for _, step := range c.Steps {
		if step.Bundled != nil {
			failure.Line, failure.Step = step.Line, step.action()
			break
		}
	}
	return failure
}
