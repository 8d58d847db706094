package run_test

import (
	"context"
	"log"
	"os"
	"path/filepath"
	"time"

	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
)

// This runs a scenario with processes of this machine, measures it from its log, and prints a
// table. It needs nginx with Lua and the controller's binary (make build). Package sim/trial
// does all of this in one call.
func Example() {
	const dir = "runs/mine"
	s, err := scenario.Load("scenarios/endpoints/endpoint-churn-is-dynamic.yaml", scenario.Known{})
	if err != nil {
		log.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	file, err := os.Create(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()

	start := time.Now()
	events := event.NewLog(file, start)
	err = run.Do(context.Background(), run.Options{
		Scenario: s, Seed: s.Seed, Dir: dir, Log: events, Start: start,
		Driver: local.Driver{Bundled: "bin/nginx-ingress-controller"},
	})
	if err := events.Close(); err != nil {
		log.Fatal(err)
	}
	if err != nil { // the log contains the events until then
		log.Print(err)
	}

	if _, err := file.Seek(0, 0); err != nil {
		log.Fatal(err)
	}
	result, series, err := measure.From(event.Read(file))
	if err != nil {
		log.Fatal(err)
	}
	if err := report.Table(os.Stdout, result, series, nil); err != nil {
		log.Fatal(err)
	}
}
