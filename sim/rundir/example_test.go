package rundir_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

// The log of an earlier run is measured again, by the expectations that its scenario has
// today, and the reports beside the log are written again.
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
