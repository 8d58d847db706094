package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// loseBackends tells whether a reload takes Lua's backends away: nginx keeps
// what is in a shared dictionary only while its size stays the same.
func loseBackends(running, next []byte) bool {
	return !bytes.Equal(backendsDict(running), backendsDict(next))
}

func backendsDict(conf []byte) []byte {
	for line := range bytes.SplitSeq(conf, []byte("\n")) {
		if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("lua_shared_dict configuration_data ")) {
			return line
		}
	}
	return nil
}

// whyPost says which backends and endpoints came and went.
func whyPost(running, next State) []Why {
	if len(running.Backends) == 0 {
		return []Why{{New: "first backends"}}
	}
	if bytes.Equal(running.Backends, next.Backends) {
		return []Why{{Old: string(backendsDict(running.Conf)), New: string(backendsDict(next.Conf))}}
	}
	old, new := describe(running.Backends), describe(next.Backends)
	var whys []Why
	for _, backend := range new.order {
		if before, known := old.at[backend]; known {
			whys = append(whys, compareAt(place{}, before, new.at[backend])...)
		} else {
			whys = append(whys, Why{New: "backend " + backend.server})
		}
	}
	for _, backend := range old.order {
		if !new.has(backend) {
			whys = append(whys, Why{Old: "backend " + backend.server})
		}
	}
	if len(whys) == 0 {
		whys = append(whys, Why{New: "the same backends and endpoints in another order"})
	}
	return bounded(whys)
}

// describe writes backends as lines: one for each endpoint, and one for each
// other thing that is said of a backend.
func describe(backends []byte) lines {
	described := lines{at: make(map[place][]string)}
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(backends, &list); err != nil {
		described.add(place{server: "?"}, "backends are not JSON: "+err.Error())
	}
	for _, backend := range list {
		name := strings.Trim(string(backend["name"]), `"`)
		at := place{server: name}
		for _, key := range slices.Sorted(maps.Keys(backend)) {
			if key != "endpoints" {
				described.add(at, fmt.Sprintf("%s.%s %s", name, key, backend[key]))
			}
		}
		for _, e := range endpoints(backend["endpoints"]) {
			described.add(at, fmt.Sprintf("%s endpoint %s:%s", name, e.Address, e.Port))
		}
	}
	return described
}

type endpoint struct{ Address, Port string }

// endpoints are none when there is no such key.
func endpoints(raw json.RawMessage) []endpoint {
	var all []endpoint
	if err := json.Unmarshal(raw, &all); err != nil && raw != nil {
		return []endpoint{{Address: "unreadable", Port: err.Error()}}
	}
	return all
}
