package scenario_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/scenario"
)

func ExampleParse() {
	const text = `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: small}
spec:
  summary: A rolling update.
  population: {services: 4, pods: 3}
  traffic:
  - {lane: http, rate: 50/s}
  timeline:
  - {at: 0s, churn: rolling-update, rate: 4/s, for: 2s, drain: 5s}
  expect: [reloads == 0]
`
	// Other packages know lanes, faults and expectations. A zero Known skips these checks.
	s, err := scenario.Parse("small.yaml", []byte(text), scenario.Known{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Name, s.Length(), s.Population.Services, s.Expect)

	_, err = scenario.Parse("small.yaml", []byte(text), scenario.Known{Lanes: []string{"post"}})
	fmt.Println(err)
	// Output:
	// small 2s 4 [reloads == 0]
	// small.yaml:9: unknown lane http; there is only post
}
