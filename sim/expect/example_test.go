package expect_test

import (
	"fmt"
	"log"
	"strings"
	"time"

	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/measure"
)

func ExampleExpectation_Check() {
	expectation, err := expect.Compile(`reloads == 0 && converge.last.p99 < duration("5s")`)
	if err != nil {
		log.Fatal(err)
	}
	measured := measure.Subject{Reloads: 7, Converge: measure.Converge{Last: measure.Durations{N: 50, P99: 4 * time.Second}}}
	verdict, err := expectation.Check(measured)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.OK, verdict.Actual)

	_, err = expect.Compile("reload == 0")
	what, _, _ := strings.Cut(err.Error(), ";") // then come the names there are
	fmt.Println(what)
	// Output:
	// false reloads = 7, converge.last.p99 = 4s
	// expectation "reload == 0", column 1: undeclared reference to 'reload' (did you mean 'reloads'?)
}
