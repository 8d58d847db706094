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
	case s.Length() == 0:
		return nil, fmt.Errorf("--length: the timeline of %s has no length to stretch", s.Name)
	}
	return s.Stretched(length), nil
}
