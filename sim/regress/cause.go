package regress

import (
	"regexp"
	"strings"

	"windtunnel.dev/sim/regress/conf"
)

// cause returns the line of a template that explains why a directive differs. In this order, it is
// a line that differs and
//   - writes the directive;
//   - has a condition, a loop or a call around it, the innermost first;
//   - assigns a variable that one of these lines uses;
//   - stands before it in the same file, the nearest one: an else or an end has moved.
func (c changes) cause(base, head [][]Site) *Cause {
	if !c.any() {
		return nil
	}
	sides := []struct {
		name    string
		origins [][]Site
		changed map[Site]bool
		text    map[string][]string
	}{{SideHead, head, c.head, c.headText}, {SideBase, base, c.base, c.baseText}}
	for _, find := range []func([][]Site, map[Site]bool, map[string][]string) (Site, bool){writes, surrounds, assigns, precedes} {
		for _, side := range sides {
			if site, ok := find(side.origins, side.changed, side.text); ok {
				return &Cause{Side: side.name, Site: site, Text: textAt(side.text, site)}
			}
		}
	}
	return nil
}

func writes(origins [][]Site, changed map[Site]bool, _ map[string][]string) (Site, bool) {
	for _, origin := range origins {
		if len(origin) > 0 && changed[origin[0]] {
			return origin[0], true
		}
	}
	return Site{}, false
}

func surrounds(origins [][]Site, changed map[Site]bool, _ map[string][]string) (Site, bool) {
	for _, origin := range origins {
		for _, site := range origin {
			if changed[site] {
				return site, true
			}
		}
	}
	return Site{}, false
}

var variable = regexp.MustCompile(`\$[A-Za-z_]\w*`)

// assigns looks at the actions of a template only: the variables of nginx look the same.
func assigns(origins [][]Site, changed map[Site]bool, text map[string][]string) (Site, bool) {
	var best Site
	for _, origin := range origins {
		for _, site := range origin {
			for _, name := range variable.FindAllString(actions(textAt(text, site)), -1) {
				assignment := regexp.MustCompile(regexp.QuoteMeta(name) + `(, *\$\w+)? *:?= `)
				for other := range changed {
					if other.File == site.File && other.Line > best.Line && assignment.MatchString(actions(textAt(text, other))) {
						best = other
					}
				}
			}
			if best.Line > 0 {
				return best, true
			}
		}
	}
	return best, false
}

// actions returns the actions of a line of a template.
func actions(line string) string {
	var all strings.Builder
	for {
		_, rest, found := strings.Cut(line, "{{")
		if !found {
			return all.String()
		}
		action, after, _ := strings.Cut(rest, "}}")
		all.WriteString(action + " ")
		line = after
	}
}

func precedes(origins [][]Site, changed map[Site]bool, _ map[string][]string) (Site, bool) {
	var best Site
	for _, origin := range origins {
		for _, site := range origin {
			for other := range changed {
				if other.File == site.File && other.Line <= site.Line && other.Line > best.Line {
					best = other
				}
			}
			if best.Line > 0 {
				return best, true
			}
		}
	}
	return best, false
}

// originsOf returns the origins of the lines of a directive, without those of its block.
func originsOf(origins Origins, d *conf.Directive) [][]Site {
	if origins == nil || d == nil {
		return nil
	}
	last := d.Last
	if d.Lua != "" {
		last += strings.Count(d.Lua, "\n")
	}
	var all [][]Site
	for line := d.Line; line <= last; line++ {
		all = append(all, origins(line)...)
	}
	return all
}

// innermost returns the line that writes a directive; nil if it is unknown.
func innermost(origins [][]Site) *Site {
	for _, origin := range origins {
		if len(origin) > 0 {
			return &origin[0]
		}
	}
	return nil
}
