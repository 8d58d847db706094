package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"windtunnel.dev/sim/measure"
)

// JUnit writes the outcomes as a JUnit XML report: a suite a subject, a case an
// expectation. What a void run did not measure is neither passed nor failed but
// an error.
func JUnit(w io.Writer, result measure.Result, outcomes []Outcome) error {
	all := junit.Testsuites{Name: result.Run.Scenario}
	for _, s := range result.Subjects {
		suite := junit.Testsuite{Name: result.Run.Scenario + "/" + s.Name, Time: fmt.Sprintf("%.3f", s.Measured.Seconds())}
		if !result.Run.Start.IsZero() {
			suite.SetTimestamp(result.Run.Start)
		}
		suite.AddProperty("seed", fmt.Sprint(result.Run.Seed))
		suite.AddProperty("driver", result.Run.Driver)
		suite.AddTestcase(validity(result, s))
		for _, outcome := range outcomes {
			if outcome.Subject == s.Name {
				suite.AddTestcase(verdictCase(result, s, outcome))
			}
		}
		all.AddSuite(suite)
	}
	if err := all.WriteXML(w); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	return nil
}

// validity is the case that the run says something at all.
func validity(result measure.Result, s measure.Subject) junit.Testcase {
	c := junit.Testcase{Classname: result.Run.Scenario + "." + s.Name, Name: "the run is valid"}
	if !s.Valid {
		reasons := strings.Join(s.Invalid, "\n")
		c.Error = &junit.Result{Message: "the run is void: " + s.Invalid[0], Type: "void", Data: reasons}
	}
	return c
}

func verdictCase(result measure.Result, s measure.Subject, o Outcome) junit.Testcase {
	c := junit.Testcase{Classname: result.Run.Scenario + "." + s.Name, Name: o.Text}
	switch {
	case !s.Valid:
		c.Skipped = &junit.Result{Message: "not judged: the run is void"}
	case !o.OK:
		c.Failure = &junit.Result{Message: o.Actual, Type: "expectation", Data: o.Text + "\n" + o.Actual}
	}
	return c
}
