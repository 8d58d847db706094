package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// JUnit writes a JUnit XML report, with a suite per subject and a case per expectation. For a void
// run, the case "the run is valid" is an error, and the other cases are skipped. So are expectations
// that do not apply.
func JUnit(w io.Writer, result measure.Result, checks []judge.Check) error {
	all := junit.Testsuites{Name: result.Run.Scenario}
	for _, s := range result.Subjects {
		suite := junit.Testsuite{Name: result.Run.Scenario + "/" + s.Name, Time: fmt.Sprintf("%.3f", s.Measured.Seconds())}
		if !result.Run.Start.IsZero() {
			suite.SetTimestamp(result.Run.Start)
		}
		suite.AddProperty("seed", fmt.Sprint(result.Run.Seed))
		suite.AddProperty("driver", result.Run.Driver)
		if controller := result.Run.ControllerOf(s.Name); controller != "" {
			suite.AddProperty("controller", controller)
		}
		suite.AddTestcase(validity(result, s))
		for _, c := range checks {
			if c.Subject == s.Name {
				suite.AddTestcase(expectation(result, c))
			}
		}
		all.AddSuite(suite)
	}
	if err := all.WriteXML(w); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	return nil
}

// validity returns the case that the run is valid.
func validity(result measure.Result, s measure.Subject) junit.Testcase {
	c := junit.Testcase{Classname: result.Run.Scenario + "." + s.Name, Name: "the run is valid"}
	if !s.Valid {
		reasons := strings.Join(s.Invalid, "\n")
		c.Error = &junit.Result{Message: "the run is void: " + s.WhyInvalid(), Type: "void", Data: reasons}
	}
	return c
}

// expectation returns the case that an expectation is met.
func expectation(result measure.Result, c judge.Check) junit.Testcase {
	one := junit.Testcase{Classname: result.Run.Scenario + "." + c.Subject, Name: c.Text}
	switch c.Verdict() {
	case judge.NotApplicable:
		one.Skipped = &junit.Result{Message: "not applicable: " + c.NotApplicable}
	case judge.NotJudged:
		one.Skipped = &junit.Result{Message: "not judged: the run is void"}
	case judge.NotMet:
		one.Failure = &junit.Result{Message: c.Actual, Type: "expectation", Data: c.Text + "\n" + c.Actual}
	}
	return one
}
