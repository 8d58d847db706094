package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// whyFiles says which files came, went or changed; never what is in them.
func whyFiles(running, next State) []Why {
	var whys []Why
	for _, path := range slices.Sorted(maps.Keys(next.Files)) {
		if content, known := running.Files[path]; !known {
			whys = append(whys, Why{New: "file " + path})
		} else if !bytes.Equal(content, next.Files[path]) {
			whys = append(whys, Why{New: "file " + path + " with other content"})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(running.Files)) {
		if _, still := next.Files[path]; !still {
			whys = append(whys, Why{Old: "file " + path})
		}
	}
	return whys
}

// whyServers says which hosts have another certificate, and which certificates
// are renewed; certificates are called by their UID.
func whyServers(running, next State) []Why {
	if len(running.Servers) == 0 {
		return []Why{{New: "first certificates"}}
	}
	if bytes.Equal(running.Servers, next.Servers) {
		return []Why{{New: "another size of the dictionaries of certificates"}}
	}
	type told struct{ Certificates, Servers map[string]string }
	var old, new told
	for text, to := range map[*[]byte]*told{&running.Servers: &old, &next.Servers: &new} {
		if err := json.Unmarshal(*text, to); err != nil {
			return []Why{{New: "certificates are not JSON: " + err.Error()}}
		}
	}
	whys := compareMaps(old.Servers, new.Servers, func(host, uid string) string {
		return fmt.Sprintf("host %s with certificate %s", host, uid)
	})
	for _, uid := range slices.Sorted(maps.Keys(new.Certificates)) {
		if before, known := old.Certificates[uid]; known && before != new.Certificates[uid] {
			whys = append(whys, Why{New: fmt.Sprintf("certificate %s renewed", uid)})
		}
	}
	return orLayout(whys, "the same certificates in another order")
}

// whyPass says which hosts are passed to which address, or what else the
// listener is told.
func whyPass(running, next State) []Why {
	if len(running.Passthrough) == 0 {
		return []Why{{New: "first list of TLS passthrough"}}
	}
	old, new := flat(running.Passthrough), flat(next.Passthrough)
	whys := compareMaps(old, new, func(key, value string) string { return "TLS passthrough of " + key + " to " + value })
	return orLayout(whys, "the same list of TLS passthrough in another order")
}

// flat is every value of a JSON object by its key, those of hosts by the host.
func flat(text []byte) map[string]string {
	var parsed struct{ Hosts map[string]string }
	var rest map[string]json.RawMessage
	if json.Unmarshal(text, &parsed) != nil || json.Unmarshal(text, &rest) != nil {
		return map[string]string{"?": "what is not JSON"}
	}
	all := make(map[string]string)
	maps.Copy(all, parsed.Hosts)
	for key, value := range rest {
		if key != "hosts" {
			all[key] = string(value)
		}
	}
	return all
}

func compareMaps(old, new map[string]string, show func(key, value string) string) []Why {
	var whys []Why
	for _, key := range slices.Sorted(maps.Keys(new)) {
		if before, known := old[key]; !known {
			whys = append(whys, Why{New: show(key, new[key])})
		} else if before != new[key] {
			whys = append(whys, Why{Old: show(key, before), New: show(key, new[key])})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(old)) {
		if _, still := new[key]; !still {
			whys = append(whys, Why{Old: show(key, old[key])})
		}
	}
	return whys
}

func orLayout(whys []Why, otherwise string) []Why {
	if len(whys) == 0 {
		return []Why{{New: otherwise}}
	}
	return bounded(whys)
}
