package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/wire"
)

// These shared dictionaries hold the backends that were sent to Lua.
const (
	backendsDict = "configuration_data"
	streamDict   = "tcp_udp_configuration_data"
)

// losesDict reports whether a reload empties a shared dictionary. nginx keeps its content only if
// its size stays the same.
func losesDict(name string, running, next State) bool {
	before, after := conf.Differing(running.Conf, next.Conf)
	return !bytes.Equal(dictLine(name, before), dictLine(name, after))
}

func dictLine(name string, text conf.Text) []byte {
	return text.LineWith([]byte("lua_shared_dict " + name + " "))
}

// whyPost lists the backends and endpoints that were added, removed or changed. If there are none,
// the reason is that a reload empties the dictionary.
func whyPost(dict string, running, next State, told, wanted wire.List) []Why {
	if !told.IsSent() {
		return []Why{{New: "first backends"}}
	}
	if told.Equal(wanted) {
		return []Why{{Old: string(dictLine(dict, running.Conf)), New: string(dictLine(dict, next.Conf))}}
	}
	var whys []Why
	for _, change := range wanted.Since(told) {
		switch {
		case change.Before == nil:
			whys = append(whys, Why{New: "backend " + change.Name})
		case change.After == nil:
			whys = append(whys, Why{Old: "backend " + change.Name})
		default:
			whys = append(whys, compareAt(block{}, describe(change.Name, change.Before), describe(change.Name, change.After))...)
		}
	}
	if len(whys) == 0 {
		whys = append(whys, Why{New: "the same backends and endpoints in another order"})
	}
	return bounded(whys)
}

// describe formats a backend as lines: one per endpoint, and one per other field.
func describe(name string, encoded []byte) []string {
	var backend map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &backend); err != nil {
		return []string{name + " is not a JSON object: " + err.Error()}
	}
	var described []string
	for _, key := range slices.Sorted(maps.Keys(backend)) {
		if key != "endpoints" {
			described = append(described, fmt.Sprintf("%s.%s %s", name, key, backend[key]))
		}
	}
	for _, e := range endpoints(backend["endpoints"]) {
		described = append(described, fmt.Sprintf("%s endpoint %s:%s", name, e.Address, e.Port))
	}
	return described
}

type endpoint struct{ Address, Port string }

// endpoints decodes a list of endpoints; nil gives an empty list.
func endpoints(raw json.RawMessage) []endpoint {
	var all []endpoint
	if err := json.Unmarshal(raw, &all); err != nil && raw != nil {
		return []endpoint{{Address: "unreadable", Port: err.Error()}}
	}
	return all
}
