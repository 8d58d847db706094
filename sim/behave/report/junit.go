package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"windtunnel.dev/sim/behave"
)

// JUnit writes a JUnit XML report, with a suite per topic and a testcase per case; the classname is
// the topic. A void case is an error. A case with a declared difference passes.
func JUnit(w io.Writer, d Document) error {
	all := junit.Testsuites{Name: "cases", Time: fmt.Sprintf("%.3f", d.Took.Seconds())}
	for _, topic := range d.topics() {
		suite := junit.Testsuite{Name: topic.Name}
		if !d.Start.IsZero() {
			suite.SetTimestamp(d.Start)
		}
		suite.AddProperty("subject", d.Subject)
		suite.AddProperty("driver", d.Driver)
		var seconds float64
		for _, c := range d.Cases {
			if c.Topic == topic.Name {
				suite.AddTestcase(testcase(c))
				seconds += c.Took.Seconds()
			}
		}
		suite.Time = fmt.Sprintf("%.3f", seconds)
		all.AddSuite(suite)
	}
	if err := all.WriteXML(w); err != nil {
		return fmt.Errorf("writing the JUnit report: %w", err)
	}
	return nil
}

func testcase(c Case) junit.Testcase {
	one := junit.Testcase{Classname: c.Topic, Name: strings.TrimPrefix(c.Case, c.Topic+"/"), Time: fmt.Sprintf("%.3f", c.Took.Seconds())}
	reasons := because(c)
	first, _, _ := strings.Cut(reasons, "\n")
	result := &junit.Result{Message: first, Type: string(c.Outcome), Data: reasons}
	switch c.Outcome {
	case behave.Failed, behave.NoLonger:
		one.Failure = result
	case behave.Void:
		one.Error = result
	case behave.Skipped:
		one.Skipped = &junit.Result{Message: first}
	}
	return one
}
