package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// positiveDuration is the value of a flag that must be positive; 0 means that the flag is not given.
type positiveDuration time.Duration

func (d *positiveDuration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

func (d *positiveDuration) Type() string { return "duration" }

func (d *positiveDuration) Set(text string) error {
	given, err := time.ParseDuration(text)
	if err == nil && given <= 0 {
		err = errors.New("want more than 0s")
	}
	*d = positiveDuration(given)
	return err
}

// addLength adds the flag that overrides the length of a scenario.
func addLength(flags *pflag.FlagSet, length *time.Duration) {
	flags.Var((*positiveDuration)(length), "length", "stretch the timeline, with its ramps and sines, to this length without changing rates (default: the scenario's)")
}

// notNegative returns an error if the duration of a flag is negative.
func notNegative(flag string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("--%s=%v: want 0s or longer", flag, d)
	}
	return nil
}

// withLength returns the scenario with the length of the flag, if the flag is set.
func withLength(s *scenario.Scenario, length time.Duration) (*scenario.Scenario, error) {
	stretched, err := trial.OfLength(s, length)
	if err != nil {
		return nil, fmt.Errorf("--length=%v: %w", length, err)
	}
	return stretched, nil
}
