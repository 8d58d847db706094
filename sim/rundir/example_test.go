package rundir_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

// This measures the log of an earlier run again, with the expectations that its scenario has today,
// and rewrites the reports next to the log.
func Example() {
	dir := rundir.Dir("runs/mine")
	s, err := scenario.Load(dir.File(rundir.Scenario), scenario.Known{})
	if err != nil {
		log.Fatal(err)
	}
	measured, err := dir.Measure(s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(measured.Outcome())
}
