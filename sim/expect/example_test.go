package expect_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/measure"
)

func ExampleExpectation_Evaluate() {
	expectation, err := expect.Compile(`reloads == 0 && converge.last.p99 < duration("5s")`)
	if err != nil {
		log.Fatal(err)
	}
	measured := measure.Subject{Reloads: 7, Converge: measure.Converge{Last: measure.Durations{N: 50, P99: 4 * time.Second}}}
	evaluation, err := expectation.Evaluate(measured)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(evaluation.OK, evaluation.Actual)

	_, err = expect.Compile("reload == 0")
	what, _, _ := strings.Cut(err.Error(), ";") // the rest lists the existing names
	fmt.Println(what)
	// Output:
	// false reloads = 7, converge.last.p99 = 4s
	// expectation "reload == 0", column 1: undeclared reference to 'reload' (did you mean 'reloads'?)
}
