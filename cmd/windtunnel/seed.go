package main

import "github.com/spf13/pflag"

// seedFlag is the flag --seed, which overrides the seed of a scenario.
type seedFlag struct {
	value uint64
	flag  *pflag.Flag
}

func (s *seedFlag) add(flags *pflag.FlagSet) {
	flags.Uint64Var(&s.value, "seed", 0, "seed of population, churn and traffic (default: the scenario's)")
	s.flag = flags.Lookup("seed")
}

// or returns the seed of the flag, or that of the scenario if the flag is not given.
func (s *seedFlag) or(own uint64) uint64 {
	if s.flag.Changed {
		return s.value
	}
	return own
}
