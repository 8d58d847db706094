package side

import (
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/sim/regress"
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

// mixed returns base with some settings that differ, and with the Lua code of head.
func mixed(base, head scenario.Subject, settings []string) scenario.Subject {
	s := base
	s.Lua, s.Config, s.Flags = head.Lua, maps.Clone(base.Config), maps.Clone(base.Flags)
	for _, setting := range settings {
		name, _, _ := strings.Cut(setting, "=")
		switch kind, key, _ := strings.Cut(name, "."); kind {
		case regress.TemplateSetting:
			s.Template = head.Template
		case "nginx":
			s.Nginx = head.Nginx
		case "config":
			s.Config = withKey(s.Config, head.Config, key)
		case "flag":
			s.Flags = withKey(s.Flags, head.Flags, key)
		}
	}
	return s
}

// withKey returns values with the key as in others: with that value, or without the key if others lack it.
func withKey(values, others map[string]string, key string) map[string]string {
	value, has := others[key]
	if !has {
		delete(values, key)
		return values
	}
	return scenario.Over(values, map[string]string{key: value})
}
