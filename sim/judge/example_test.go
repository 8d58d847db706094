package judge_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
)

// This checks the expectations of a scenario on a result; the outcome contains the reason.
func Example() {
	s := &scenario.Scenario{Spec: scenario.Spec{Expect: []scenario.Expectation{{Expression: "reloads == 0"}}}}
	result := measure.Result{Subjects: []measure.Subject{{Name: "bundled", Valid: true, Reloads: 7}}}
	checks, err := judge.Checks(s, result)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(judge.Of(result, checks))

	result.Subjects[0].Valid, result.Subjects[0].Invalid = false, []string{"the host was starved"}
	fmt.Println(judge.Of(result, checks))
	// Output:
	// failed bundled: reloads == 0, but reloads = 7
	// void bundled: the host was starved
}
