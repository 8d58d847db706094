package trial_test

import (
	"context"
	"fmt"
	"log"

	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// This runs a scenario with processes of this machine, measures and judges it; its folder contains
// the log and all reports. It needs nginx with Lua and the controller's binary (make build).
func Example() {
	s, err := scenario.Load("scenarios/endpoints/endpoint-churn-is-dynamic.yaml", scenario.Known{})
	if err != nil {
		log.Fatal(err)
	}
	ended := trial.Do(context.Background(), trial.Trial{
		Scenario: s, Seed: s.Seed, Dir: "runs/mine",
		Driver: local.Driver{Bundled: "bin/nginx-ingress-controller"},
	})
	fmt.Println(ended.Outcome, ended.Note())
}
