// Command scenariosize writes a scenario with another population: the given number of ingresses, as
// many surplus services without an ingress as in the scenario, and the given number of pods per
// service. It omits expectations and controls, because they hold for the population of the file. Its
// one rule: everything else stays as it is.
//
//	go run ./hack/scenariosize -ingresses 500 [-pods 4] [-seed 2] [-workers 4] [-flag name=value] scenarios/reloads/reload-storm.yaml
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"windtunnel.dev/sim/scenario"
)

func main() {
	ingresses := flag.Int("ingresses", 0, "number of ingresses")
	pods := flag.Int("pods", 0, "pods of each service; 0: as in the file")
	seed := flag.Uint64("seed", 0, "seed; 0: as in the file")
	workers := flag.String("workers", "", "worker-processes; empty: as in the file")
	replaced := flag.String("flag", "", "NAME=VALUE: a flag of the controller")
	flag.Parse()
	if flag.NArg() != 1 || *ingresses < 1 {
		flag.Usage()
		os.Exit(2)
	}
	s, err := scenario.Load(flag.Arg(0), scenario.Known{})
	if err != nil {
		fail(err)
	}
	p := &s.Population
	more := max(0, p.Services-p.Ingresses)
	p.Ingresses, p.Services = *ingresses, *ingresses+more
	if *pods > 0 {
		p.Pods = *pods
	}
	if *seed > 0 {
		s.Seed = *seed
	}
	if *workers != "" {
		s.Config["worker-processes"] = *workers
	}
	if name, value, ok := strings.Cut(*replaced, "="); ok {
		for i := range s.Subjects {
			s.Subjects[i].Flags = scenario.Over(s.Subjects[i].Flags, map[string]string{name: value})
		}
	}
	s.Expect, s.Control = nil, nil
	for i := range s.Subjects {
		s.Subjects[i].Expect = nil
	}
	text, err := s.Marshal()
	if err != nil {
		fail(err)
	}
	os.Stdout.Write(text)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "scenariosize:", err)
	os.Exit(1)
}
