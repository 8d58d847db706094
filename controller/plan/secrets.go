package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"windtunnel.dev/controller/wire"
)

// whyFiles lists the files that were added, removed or changed, without their contents.
func whyFiles(running, next State) []Why {
	if sameFiles(running, next) {
		return nil
	}
	var whys []Why
	added, gone := differing(running.Files, next.Files, bytes.Equal)
	for _, path := range added {
		if _, known := running.Files[path]; known {
			whys = append(whys, Why{New: "file " + path + " with new content"})
		} else {
			whys = append(whys, Why{New: "file " + path})
		}
	}
	for _, path := range gone {
		whys = append(whys, Why{Old: "file " + path})
	}
	return whys
}

// differing returns the keys of new whose value old lacks, and the keys that only old has, both
// sorted. Large maps differ in few keys, so only those are sorted.
func differing[V any](old, new map[string]V, equal func(V, V) bool) (added, gone []string) {
	for key, value := range new {
		if before, known := old[key]; !known || !equal(before, value) {
			added = append(added, key)
		}
	}
	for key := range old {
		if _, still := new[key]; !still {
			gone = append(gone, key)
		}
	}
	slices.Sort(added)
	slices.Sort(gone)
	return added, gone
}

// whyCertificates lists the hosts whose certificate changed, and the renewed certificates. Certificates
// are identified by their UID.
func whyCertificates(running, next wire.Certificates) []Why {
	if !running.IsSent() {
		return []Why{{New: "first certificates"}}
	}
	if running.Equal(next) {
		return []Why{{New: "the dictionaries for certificates are emptied"}}
	}
	whys := compareMaps(running.Hosts(), next.Hosts(), func(host, uid string) string {
		return fmt.Sprintf("host %s with certificate %s", host, uid)
	})
	changed, _ := differing(running.PEMs(), next.PEMs(), func(a, b string) bool { return a == b })
	for _, uid := range changed {
		if _, known := running.PEMs()[uid]; known {
			whys = append(whys, Why{New: fmt.Sprintf("certificate %s renewed", uid)})
		}
	}
	return orLayout(whys, "certificates that no host uses")
}

// whyPass lists the changes of hosts and addresses, and of the listener's other settings.
func whyPass(running, next State) []Why {
	if len(running.Passthrough) == 0 {
		return []Why{{New: "first configuration of TLS passthrough"}}
	}
	old, new := flat(running.Passthrough), flat(next.Passthrough)
	whys := compareMaps(old, new, func(key, value string) string { return "TLS passthrough of " + key + " to " + value })
	return orLayout(whys, "the same configuration of TLS passthrough in another order")
}

// flat returns the top-level values of a JSON object by key, with the hosts' addresses by host.
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
	added, gone := differing(old, new, func(a, b string) bool { return a == b })
	for _, key := range added {
		why := Why{New: show(key, new[key])}
		if before, known := old[key]; known {
			why.Old = show(key, before)
		}
		whys = append(whys, why)
	}
	for _, key := range gone {
		whys = append(whys, Why{Old: show(key, old[key])})
	}
	return whys
}

func orLayout(whys []Why, otherwise string) []Why {
	if len(whys) == 0 {
		return []Why{{New: otherwise}}
	}
	return bounded(whys)
}
