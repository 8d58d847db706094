package migrate

import (
	"maps"
	"slices"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/behave"
)

// fitting returns the cases with only the settings that the side can have, and the other settings, as
// config/KEY and flag/NAME, sorted. ConfigMap keys that the side has itself replace those of the cases.
func (s Side) fitting(cases []*behave.Case) (fitting []*behave.Case, unreached []string) {
	for _, c := range cases {
		made := *c
		made.Config, made.Flags = maps.Clone(c.Config), maps.Clone(c.Flags)
		for key := range c.Config {
			_, own := s.Ask.Subject.Config[key]
			if !own && s.Ask.ConfigMap.Name == "" {
				unreached = append(unreached, "config/"+key)
			}
			if own || s.Ask.ConfigMap.Name == "" {
				delete(made.Config, key)
			}
		}
		if a := s.Ask.Subject.Adapter; a != "" && a != adapters.Default {
			for name := range c.Flags {
				unreached = append(unreached, "flag/"+name)
			}
			made.Flags = nil
		}
		fitting = append(fitting, &made)
	}
	slices.Sort(unreached)
	return fitting, slices.Compact(unreached)
}
