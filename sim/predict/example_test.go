package predict_test

import (
	"fmt"
	"log"

	"windtunnel.dev/docs"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/question"
)

// This asks whether a limit of one sync in ten seconds keeps half of the changes fresher than three
// seconds.
func Example() {
	parameters, err := costs.Parse("parameters.yaml", docs.Parameters)
	if err != nil {
		log.Fatal(err)
	}
	q := question.New()
	for name, value := range map[string]string{"ingresses": "500", "rolling-update": "2/s", "sync-rate-limit": "0.1", "for": "5m"} {
		if err := q.Set(name, value); err != nil {
			log.Fatal(err)
		}
	}
	q.Where = []string{"staleness.p50 < 3s"}
	p, err := predict.Ask(q, parameters, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("in %.0f %% of %d simulated runs\n", 100*p.Answers[0].Meets, q.Runs)
	// Output: in 0 % of 40 simulated runs
}
