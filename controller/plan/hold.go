package plan

import (
	"bytes"
	"maps"
	"slices"
)

// sameAtStart reports whether two states are equal in everything that nginx reads at a start or
// reload.
func sameAtStart(a, b State) bool {
	return a.Unsure == b.Unsure && a.Conf.Equal(b.Conf) && bytes.Equal(a.LuaConfig, b.LuaConfig) && sameTracing(a, b) && sameFiles(a, b) && maps.Equal(a.Foreign, b.Foreign)
}

// withStartOf returns a copy of the state in which everything that nginx reads at start comes from
// other.
func (s State) withStartOf(other State) State {
	s.Conf, s.LuaConfig, s.Tracing, s.Files, s.Foreign = other.Conf, other.LuaConfig, other.Tracing, other.Files, other.Foreign
	s.Unsure = other.Unsure
	return s
}

// Hold returns the next state without the changes that need a reload. Those parts keep their
// running state, and so do the backends and certificates that they use. It is for times when nginx
// must not reload.
func Hold(running, next State) State {
	held := next.withStartOf(running)
	held.Backends = next.Backends.Keeping(running.Backends)
	held.Stream = next.Stream.Keeping(running.Stream)
	held.Certificates = next.Certificates.Keeping(running.Certificates)
	return held
}

// With returns the state with Foreign set to those of the files that its nginx.conf names.
func (s State) With(files map[string]string) State {
	s.Foreign = nil
	for path, stamp := range files {
		if s.Conf.Contains([]byte(path)) {
			if s.Foreign == nil {
				s.Foreign = make(map[string]string)
			}
			s.Foreign[path] = stamp
		}
	}
	return s
}

// whyForeign lists the foreign files that were added, removed or changed.
func whyForeign(running, next State) []Why {
	var whys []Why
	for _, path := range slices.Sorted(maps.Keys(next.Foreign)) {
		if stamp := next.Foreign[path]; stamp != running.Foreign[path] {
			why := Why{New: path + " with " + stamp}
			if before, known := running.Foreign[path]; known {
				why.Old = path + " with " + before
			}
			whys = append(whys, why)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(running.Foreign)) {
		if _, still := next.Foreign[path]; !still {
			whys = append(whys, Why{Old: path})
		}
	}
	return whys
}
