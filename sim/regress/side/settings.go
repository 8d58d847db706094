package side

import (
	"slices"

	"windtunnel.dev/sim/scenario"
)

// differing returns the settings that differ between two sides, but for templates and Lua code, as the
// head has them: config.KEY=VALUE, or config.KEY if the head lacks it.
func differing(base, head scenario.Subject) []string {
	var all []string
	if base.Nginx != head.Nginx {
		all = append(all, "nginx="+head.Nginx)
	}
	for kind, sides := range map[string][2]map[string]string{"config.": {base.Config, head.Config}, "flag.": {base.Flags, head.Flags}} {
		was, is := sides[0], sides[1]
		for name, value := range is {
			if before, had := was[name]; !had || before != value {
				all = append(all, kind+name+"="+value)
			}
		}
		for name := range was {
			if _, has := is[name]; !has {
				all = append(all, kind+name)
			}
		}
	}
	slices.Sort(all)
	return all
}
