package plan

import (
	"bytes"
	"slices"
	"strings"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/internal/plural"
)

// maxWhys limits the number of reasons of a step, because people read them.
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

// whyReload lists the differences in the files that nginx reads when it starts.
func whyReload(running, next State) []Why {
	if running.Conf.Len() == 0 {
		return []Why{{New: "first configuration"}}
	}
	old, now := conf.Differing(running.Conf, next.Conf)
	whys := compare(split(old), split(now))
	if running.Unsure {
		whys = append(whys, Why{New: "the last reload failed halfway"})
	}
	if len(whys) == 0 && !running.Conf.Equal(next.Conf) {
		whys = append(whys, firstDifference(running.Conf, next.Conf))
	}
	whys = append(whys, compareAt(block{}, settings(running.LuaConfig), settings(next.LuaConfig))...)
	whys = append(whys, whyTracing(running, next)...)
	whys = append(whys, whyFiles(running, next)...)
	whys = append(whys, whyForeign(running, next)...)
	if len(whys) == 0 {
		whys = append(whys, Why{New: "cfg.json with the same settings in another layout"})
	}
	return bounded(whys)
}

// compare lists additions and removals in the order of the files. A block, such as a server or
// location, that is added or removed as a whole is one reason, regardless of its content.
func compare(old, new lines) []Why {
	var whys []Why
	for _, at := range new.order {
		if before, known := old.at[at]; known {
			whys = append(whys, compareAt(at, before.lines, new.at[at].lines)...)
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

func (p block) why(old, new string) Why {
	return Why{Server: p.server, Location: p.location, Old: old, New: new}
}

// name returns the name of a block for a reason about the whole block.
func (p block) name() string {
	switch {
	case p.inner != "":
		return p.inner
	case p.location != "":
		return "location"
	}
	return "server"
}

// compareAt lists additions and removals in one block. A removed line and an added line with the
// same subject become one change.
func compareAt(at block, old, new []string) []Why {
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

// line prefixes a line with the name of its block, unless that is a server or location.
func (p block) line(text string) string {
	if p.inner == "" {
		return text
	}
	return p.inner + ": " + text
}

// without returns the lines that are not in others. Duplicates count individually.
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

// subject returns the setting that a line changes: its directive and, for directives that set named
// values, the name.
func subject(line string) string {
	name, rest, _ := strings.Cut(line, " ")
	switch {
	case name == "set", name == "lua_shared_dict", name == "cfg.json", strings.HasSuffix(name, "_header"):
		which, _, _ := strings.Cut(rest, " ")
		return name + " " + which
	}
	return name
}

// settings returns the lines of cfg.json, one per setting.
func settings(luaConfig []byte) []string {
	var all []string
	for line := range bytes.SplitSeq(luaConfig, []byte("\n")) {
		if line = bytes.TrimSuffix(bytes.TrimSpace(line), []byte(",")); len(line) > 0 {
			all = append(all, "cfg.json "+string(line))
		}
	}
	return all
}

// firstDifference returns the first difference between two files that have the same lines in the
// same blocks. They differ in order, comments or layout.
func firstDifference(old, new conf.Text) Why {
	a, b := strings.Split(old.String(), "\n"), strings.Split(new.String(), "\n")
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
