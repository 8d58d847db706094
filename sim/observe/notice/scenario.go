package notice

import (
	"maps"
	"slices"
	"time"

	"windtunnel.dev/sim/scenario"
)

// Seen is the part of an observation that a scenario can express.
type Seen struct {
	Name       string // of the subject
	Controller string // of the subject, as in a scenario
	Flags      map[string]string
	Config     map[string]string
	Size       Size
	Steps      map[string]int // changes by kind
	Length     time.Duration
	Lanes      map[string]float64 // rates
}

// Scenario returns a scenario with a population of the same size, and changes and requests at the same
// rates. leftOut are the kinds of changes that a scenario cannot express, with their numbers.
func Scenario(s Seen) (made *scenario.Scenario, leftOut map[string]int) {
	made = &scenario.Scenario{Name: "observed", Spec: scenario.Spec{
		Summary: "Generated from an observation: the same numbers of services, pods, ingresses and changes.",
		Seed:    1, Rounds: 1, Settle: 20 * time.Second, Granularity: time.Second,
		Subjects: []scenario.Subject{{Name: s.Name, Controller: s.Controller, Flags: s.Flags, Config: s.Config}},
	}}
	if s.Size.Services > 0 && s.Size.Ingresses > 0 {
		made.Population = scenario.Population{
			Namespace: scenario.DefaultNamespace, Services: s.Size.Services, Ingresses: s.Size.Ingresses,
			Pods: max(1, (s.Size.Pods+s.Size.Services/2)/s.Size.Services),
		}
	}
	for _, lane := range slices.Sorted(maps.Keys(s.Lanes)) {
		made.Traffic = append(made.Traffic, scenario.Traffic{Lane: lane, Rate: scenario.Rate(s.Lanes[lane])})
	}
	leftOut = map[string]int{}
	for _, step := range slices.Sorted(maps.Keys(s.Steps)) {
		n := s.Steps[step]
		if made.Population.IsZero() || !slices.Contains(scenario.Churns, step) || s.Length < time.Second {
			leftOut[step] = n
			continue
		}
		made.Timeline = append(made.Timeline, scenario.Step{Churn: step, Rate: scenario.Rate(float64(n) / s.Length.Seconds()), For: s.Length})
	}
	return made, leftOut
}
