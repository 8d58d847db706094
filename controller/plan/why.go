package plan

import (
	"bytes"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
)

// maxWhys bounds the reasons of one step: they are for people to read.
const maxWhys = 20

func (w Why) String() string {
	var where []string
	if w.Server != "" {
		where = append(where, "server "+w.Server)
	}
	if w.Location != "" {
		where = append(where, "location "+w.Location)
	}
	var what string
	switch {
	case w.Old == "":
		what = "+ " + w.New
	case w.New == "":
		what = "- " + w.Old
	default:
		what = w.Old + " -> " + w.New
	}
	if len(where) == 0 {
		return what
	}
	return strings.Join(where, " ") + ": " + what
}

// whyReload says what differs in the files that nginx reads when it starts.
func whyReload(running, next State) []Why {
	if len(running.Conf) == 0 {
		return []Why{{New: "first configuration"}}
	}
	whys := compare(split(running.Conf), split(next.Conf))
	if len(whys) == 0 && !bytes.Equal(running.Conf, next.Conf) {
		whys = append(whys, firstDifference(running.Conf, next.Conf))
	}
	whys = append(whys, compareAt(place{}, settings(running.LuaConfig), settings(next.LuaConfig))...)
	whys = append(whys, whyTracing(running, next)...)
	whys = append(whys, whyFiles(running, next)...)
	whys = append(whys, whyForeign(running, next)...)
	if len(whys) == 0 {
		whys = append(whys, Why{New: "cfg.json with the same settings in another layout"})
	}
	return bounded(whys)
}

// compare is what came and went, in the order of the files. A server, a
// location or another block that is new or gone is one reason, whatever is in it.
func compare(old, new lines) []Why {
	var whys []Why
	for _, at := range new.order {
		if before, known := old.at[at]; known {
			whys = append(whys, compareAt(at, before, new.at[at])...)
		} else if old.has(at.outer()) {
			whys = append(whys, at.why("", at.name()))
		}
	}
	for _, at := range old.order {
		if !new.has(at) && new.has(at.outer()) {
			whys = append(whys, at.why(at.name(), ""))
		}
	}
	return whys
}

func (p place) why(old, new string) Why {
	return Why{Server: p.server, Location: p.location, Old: old, New: new}
}

// name is what a place is called when it comes or goes as a whole.
func (p place) name() string {
	switch {
	case p.block != "":
		return p.block
	case p.location != "":
		return "location"
	}
	return "server"
}

// compareAt is what came and went at one place. A line that went and one that
// came on the same subject are one change.
func compareAt(at place, old, new []string) []Why {
	if slices.Equal(old, new) {
		return nil
	}
	gone, came := without(old, new), without(new, old)
	var whys []Why
	for _, line := range gone {
		other := ""
		if i := slices.IndexFunc(came, func(c string) bool { return subject(c) == subject(line) }); i >= 0 {
			other = at.line(came[i])
			came = slices.Delete(came, i, i+1)
		}
		whys = append(whys, at.why(at.line(line), other))
	}
	for _, line := range came {
		whys = append(whys, at.why("", at.line(line)))
	}
	return whys
}

// line is a line with the block it is in, if that is neither server nor location.
func (p place) line(text string) string {
	if p.block == "" {
		return text
	}
	return p.block + ": " + text
}

// without is all of lines less those of others, each as often as it is there.
func without(lines, others []string) []string {
	count := make(map[string]int, len(others))
	for _, line := range others {
		count[line]++
	}
	var left []string
	for _, line := range lines {
		if count[line] > 0 {
			count[line]--
			continue
		}
		left = append(left, line)
	}
	return left
}

// subject is what a line is about: its directive and, for those that set one
// of many things, which.
func subject(line string) string {
	name, rest, _ := strings.Cut(line, " ")
	switch {
	case name == "set", name == "lua_shared_dict", name == "cfg.json", strings.HasSuffix(name, "_header"):
		which, _, _ := strings.Cut(rest, " ")
		return name + " " + which
	}
	return name
}

// settings are the lines of cfg.json, one for each setting.
func settings(luaConfig []byte) []string {
	var all []string
	for line := range bytes.SplitSeq(luaConfig, []byte("\n")) {
		if line = bytes.TrimSuffix(bytes.TrimSpace(line), []byte(",")); len(line) > 0 {
			all = append(all, "cfg.json "+string(line))
		}
	}
	return all
}

// firstDifference is where two files differ that have the same lines at the
// same places: their order, a comment or their layout.
func firstDifference(old, new []byte) Why {
	a, b := strings.Split(string(old), "\n"), strings.Split(string(new), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return Why{Old: strings.TrimSpace(a[i]), New: strings.TrimSpace(b[i])}
		}
	}
	return Why{Old: plural.Of(len(a), "line"), New: plural.Of(len(b), "line")}
}

func bounded(whys []Why) []Why {
	if len(whys) <= maxWhys {
		return whys
	}
	return append(whys[:maxWhys:maxWhys], Why{New: "and " + plural.Of(len(whys)-maxWhys, "more change")})
}
