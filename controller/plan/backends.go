package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The shared dictionaries that hold what Lua was told.
const (
	backendsDict = "configuration_data"
	streamDict   = "tcp_udp_configuration_data"
)

// loseDict tells whether a reload takes away what a dictionary holds: nginx
// keeps it only while its size stays the same.
func loseDict(name string, running, next State) bool {
	return !bytes.Equal(dictLine(name, running.Conf), dictLine(name, next.Conf))
}

func dictLine(name string, conf []byte) []byte {
	for line := range bytes.SplitSeq(conf, []byte("\n")) {
		if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("lua_shared_dict "+name+" ")) {
			return line
		}
	}
	return nil
}

// whyPost says which backends and endpoints came and went, or that the
// dictionary that holds them does.
func whyPost(dict string, running, next State, told, wanted []byte) []Why {
	if len(told) == 0 {
		return []Why{{New: "first backends"}}
	}
	if bytes.Equal(told, wanted) {
		return []Why{{Old: string(dictLine(dict, running.Conf)), New: string(dictLine(dict, next.Conf))}}
	}
	old, new := describe(told), describe(wanted)
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
