package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// addLength adds the flag that overrides the length of a scenario.
func addLength(flags *pflag.FlagSet, length *time.Duration) {
	flags.DurationVar(length, "length", 0, "stretch the timeline to this length without changing rates (default: the scenario's)")
}

// withLength returns the scenario with the length of the flag, if the flag is set.
func withLength(s *scenario.Scenario, length time.Duration) (*scenario.Scenario, error) {
	stretched, err := trial.OfLength(s, length)
	if err != nil {
		return nil, fmt.Errorf("--length=%v: %w", length, err)
	}
	return stretched, nil
}
