package judge

import (
	"fmt"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
)

// Check is one expectation, checked against the measurements of one subject.
type Check struct {
	Subject string `json:"subject"`
	// Void says that the run of the subject is void: the expectation is not judged
	// and not met, whatever the values.
	Void bool `json:"void"`
	expect.Evaluation
}

// Met reports whether the expectation is met. OK alone tells what the values say, even if
// the run is void.
func (c Check) Met() bool { return c.OK && !c.Void }

// Checks checks every expectation of the scenario against each subject that it is about, in
// the order of the subjects. An error names the line of the scenario's file.
func Checks(s *scenario.Scenario, result measure.Result) ([]Check, error) {
	var checks []Check
	for i, subject := range result.Subjects {
		for _, expectation := range expectationsOf(s, i) {
			compiled, err := expect.Compile(expectation.Expression)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, expectation.Line, err)
			}
			evaluation, err := compiled.Evaluate(subject)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, expectation.Line, err)
			}
			checks = append(checks, Check{Subject: subject.Name, Void: !subject.Valid, Evaluation: evaluation})
		}
	}
	return checks, nil
}

// expectationsOf returns the expectations of all subjects, and those of the subject i.
func expectationsOf(s *scenario.Scenario, i int) []scenario.Expectation {
	all := s.Expect
	if i < len(s.Subjects) {
		all = append(all[:len(all):len(all)], s.Subjects[i].Expect...)
	}
	return all
}

// Of returns the outcome of a run that came to its end, and the reason in a line.
func Of(result measure.Result, checks []Check) (Outcome, string) {
	for _, s := range result.Subjects {
		if !s.Valid {
			return Void, fmt.Sprintf("void for %s: %s", s.Name, firstReason(s))
		}
	}
	for _, c := range checks {
		if !c.Met() {
			return Failed, fmt.Sprintf("%s: %s, but %s", c.Subject, c.Text, c.Actual)
		}
	}
	return Passed, plural.Of(len(checks), "expectation holds", "expectations hold")
}

func firstReason(s measure.Subject) string {
	if len(s.Invalid) == 0 {
		return "its result gives no reason"
	}
	return s.Invalid[0]
}
