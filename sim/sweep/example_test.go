package sweep_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/sweep"
)

// This plans a sweep over the number of services of a scenario.
func Example() {
	text := []byte(`apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  population: {services: 10}
  timeline: [{at: 0s, churn: rolling-update, rate: 1/s, for: 2s}]
`)
	factor, err := sweep.ParseFactor("population.services=10,1000")
	if err != nil {
		log.Fatal(err)
	}
	design := sweep.Design{Factors: []sweep.Factor{factor}, Rounds: 1}
	planned, err := sweep.Plan(text, &design, func(text []byte) (*scenario.Scenario, error) {
		return scenario.LoadAs("story.yaml", text, scenario.Known{})
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range planned {
		fmt.Println(p.Folder(), p.Scenario.Population.Ingresses)
	}
	// Output:
	// 001-services=10 10
	// 002-services=1000 1000
}
