package judge

import (
	"fmt"
	"slices"

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

// Verdict is the result of a check.
type Verdict string

// The verdicts.
const (
	Met           Verdict = "met"
	NotMet        Verdict = "not met"
	NotJudged     Verdict = "not judged"     // the run of the subject is void
	NotApplicable Verdict = "not applicable" // to the subject, whatever its run shows
)

// Verdict returns the verdict of the check. OK alone only reflects the values, even if the run is
// void.
func (c Check) Verdict() Verdict {
	switch {
	case c.NotApplicable != "":
		return NotApplicable
	case c.Void:
		return NotJudged
	case c.OK:
		return Met
	}
	return NotMet
}

// Checks checks every expectation of the scenario against each subject that it is about, in
// the order of the subjects. An error names the line of the scenario's file.
func Checks(s *scenario.Scenario, result measure.Result) ([]Check, error) {
	var checks []Check
	for i, subject := range result.Subjects {
		inapplicable := whyInapplicable(s, subject)
		for _, expectation := range expectationsOf(s, i) {
			compiled, err := expect.Compile(expectation.Expression)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, expectation.Line, err)
			}
			evaluation, err := compiled.Evaluate(subject)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", s.File, expectation.Line, err)
			}
			if inapplicable != "" {
				evaluation = expect.Evaluation{Text: evaluation.Text, Actual: inapplicable, NotApplicable: inapplicable}
			}
			checks = append(checks, Check{Subject: subject.Name, Void: !subject.Valid, Evaluation: evaluation})
		}
	}
	return checks, nil
}

// whyInapplicable returns why a scenario does not apply to a subject: a measurement that the scenario is
// about does not. It returns "" if the scenario applies.
func whyInapplicable(s *scenario.Scenario, subject measure.Subject) string {
	for _, measurement := range s.About {
		if why := subject.WhyNot(measurement); why != "" {
			return fmt.Sprintf("the scenario is about %s: %s", measurement, why)
		}
	}
	return ""
}

// expectationsOf returns the expectations of all subjects, and those of the subject i.
func expectationsOf(s *scenario.Scenario, i int) []scenario.Expectation {
	all := s.Expect
	if i < len(s.Subjects) {
		all = append(all[:len(all):len(all)], s.Subjects[i].Expect...)
	}
	return all
}

// Of returns the outcome of a finished run, and a one-line reason.
func Of(result measure.Result, checks []Check) (Outcome, string) {
	for _, s := range result.Subjects {
		if !s.Valid {
			return Void, fmt.Sprintf("%s: %s", s.Name, s.WhyInvalid())
		}
	}
	count := map[Verdict]int{}
	for _, c := range checks {
		count[c.Verdict()]++
	}
	switch {
	case count[NotMet] > 0:
		c := checks[slices.IndexFunc(checks, func(c Check) bool { return c.Verdict() == NotMet })]
		return Failed, fmt.Sprintf("%s: %s, but %s", c.Subject, c.Text, c.Actual)
	case len(checks) > 0 && count[NotApplicable] == len(checks):
		return Inapplicable, "no expectation applies: " + checks[0].NotApplicable
	case count[NotApplicable] > 0:
		return Passed, fmt.Sprintf("%s, %d not applicable", plural.Of(count[Met], "expectation holds", "expectations hold"), count[NotApplicable])
	}
	return Passed, plural.Of(len(checks), "expectation holds", "expectations hold")
}
