package compare_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// Results are usually read from result.json (rundir.Results). Counts have a budget; times need more
// runs.
func Example() {
	run := func(reloads int) measure.Result {
		return measure.Result{
			Schema: measure.Schema, Run: event.Run{Scenario: "small", Seed: 1},
			Subjects: []measure.Subject{{Name: "bundled", Valid: true, Reloads: reloads}},
		}
	}
	base, head := []measure.Result{run(2), run(3)}, []measure.Result{run(3), run(9)}
	c, err := compare.Runs(base, head, compare.Options{Budgets: map[string]measure.Budget{"reloads": {More: 2}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range c.Worse() {
		fmt.Printf("%s of %s: %v, was %v\n", row.Figure, row.Subject, row.Head, row.Base)
	}
	// Output: reloads of bundled: 9, was 3
}
