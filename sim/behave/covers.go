package behave

import (
	"slices"
	"strings"
)

// Suffixes of covers: what a case shows of an annotation, ConfigMap key or flag. An item without a
// suffix shows its effect.
const (
	DefaultSuffix = "=default" // the case does not set it
	BadSuffix     = "=bad"     // the case sets an invalid value
	EdgeSuffix    = "=edge"    // the case sets a value at an edge of the valid ones
	ScopeSuffix   = "=scope"   // the case shows what else it applies to, or does not
)

// Suffixes are the suffixes of covers.
var Suffixes = []string{DefaultSuffix, BadSuffix, EdgeSuffix, ScopeSuffix}

// Setting returns the annotation, ConfigMap key or flag of an item of covers, without its suffix.
func Setting(covers string) string {
	if i := strings.LastIndex(covers, "="); i >= 0 && slices.Contains(Suffixes, covers[i:]) {
		return covers[:i]
	}
	return covers
}

// onlyBad reports whether the case covers a setting only with invalid values.
func (c *Case) onlyBad(setting string) bool {
	return !slices.ContainsFunc(c.Covers, func(covers string) bool { return Setting(covers) == setting && covers != setting+BadSuffix })
}

// Settings returns the annotations, ConfigMap keys and flags that the case covers, in its order,
// without suffixes and duplicates.
func (c *Case) Settings() []string {
	var all []string
	for _, covers := range c.Covers {
		if setting := Setting(covers); !slices.Contains(all, setting) {
			all = append(all, setting)
		}
	}
	return all
}
