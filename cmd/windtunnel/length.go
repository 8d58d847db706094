package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"windtunnel.dev/sim/scenario"
)

// addLength adds the flag by which a scenario is made shorter, or longer, than its
// file says.
func addLength(flags *pflag.FlagSet, length *time.Duration) {
	flags.DurationVar(length, "length", 0, "stretch the timeline, its rates unchanged, to this length (default: the scenario's)")
}

// ofLength is the scenario with its timeline stretched to a length; as it is for 0.
func ofLength(s *scenario.Scenario, length time.Duration) (*scenario.Scenario, error) {
	switch {
	case length == 0:
		return s, nil
	case length < 0:
		return nil, fmt.Errorf("--length=%v: want more than 0", length)
	case length > scenario.LongestTime:
		return nil, fmt.Errorf("--length=%v: want %v (31 days) at most", length, scenario.LongestTime)
	case s.Length() == 0:
		return nil, fmt.Errorf("--length: the timeline of %s has no length to stretch", s.Name)
	}
	s = s.Stretched(length)
	for _, step := range s.Timeline {
		if many := scenario.TooManyChanges(step.Rate, step.For); many != "" {
			return nil, fmt.Errorf("--length: it makes %s; make it %d at most", many, scenario.MostChanges)
		}
	}
	return s, nil
}
