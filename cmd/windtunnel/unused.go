package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"
)

// changed returns the first of the names whose flag was set, or "".
func changed(flags *pflag.FlagSet, names []string) string {
	i := slices.IndexFunc(names, flags.Changed)
	if i < 0 {
		return ""
	}
	return names[i]
}

// changedBesides returns the first flag that was set, except those with the names; "" if there is none.
func changedBesides(flags *pflag.FlagSet, names []string) (used string) {
	flags.Visit(func(flag *pflag.Flag) {
		if used == "" && !slices.Contains(names, flag.Name) {
			used = flag.Name
		}
	})
	return used
}

// refuseUnused returns an error if one of the flags was set. why says why it would have no effect.
func refuseUnused(flags *pflag.FlagSet, why string, names ...string) error {
	if used := changed(flags, names); used != "" {
		return fmt.Errorf("--%s has no effect: %s", used, why)
	}
	return nil
}
