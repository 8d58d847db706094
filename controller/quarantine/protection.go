package quarantine

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/snapshot"
)

// protection is a protection with its annotations.
type protection struct {
	*annotations.Protection
	keys []string // annotations and their aliases, without the prefix
	asks []string // those that turn the protection on; none if it is always on
}

// protections are all protections in the tables of the annotations, in order. known are all
// annotations in these tables that state their protection. Any other annotation counts as
// protecting.
var protections, known = func() (all []*protection, known map[string]bool) {
	known = make(map[string]bool)
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			if key.Protects == nil {
				continue
			}
			names := append([]string{key.Name}, key.Aliases...)
			for _, name := range names {
				known[name] = true
			}
			if key.Protects == annotations.Harmless {
				continue
			}
			i := slices.IndexFunc(all, func(p *protection) bool { return p.Protection == key.Protects })
			if i < 0 {
				i = len(all)
				all = append(all, &protection{Protection: key.Protects})
			}
			all[i].keys = append(all[i].keys, names...)
			if key.TurnsOn {
				all[i].asks = append(all[i].asks, names...)
			}
		}
	}
	return all, known
}()

// reader reads annotations with the controller's prefix.
type reader struct{ prefix string }

func newReader(prefix string) reader {
	return reader{cmp.Or(prefix, annotations.DefaultPrefix) + "/"}
}

func (r reader) value(ingress *networkingv1.Ingress, key string) string {
	return strings.TrimSpace(ingress.Annotations[r.prefix+key])
}

func (r reader) asks(ingress *networkingv1.Ingress, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return r.value(ingress, key) != "" })
}

// weaker returns the names of the protections that are, or may be, weaker in an earlier version of
// an ingress than in the wanted one. It returns nil if the earlier version protects no less.
func (r reader) weaker(earlier, wanted *networkingv1.Ingress) []string {
	var ways []string
	for _, p := range protections {
		if r.lacks(earlier, wanted, p) {
			ways = append(ways, p.Name)
		}
	}
	for _, key := range r.unknown(earlier, wanted) {
		if r.value(earlier, key) != r.value(wanted, key) {
			ways = append(ways, "annotation "+key)
		}
	}
	if !covers(hostsOfTLS(earlier), hostsOfTLS(wanted)) {
		ways = append(ways, "spec.tls")
	}
	return ways
}

func (r reader) lacks(earlier, wanted *networkingv1.Ingress, p *protection) bool {
	if p.Directives {
		return slices.ContainsFunc(p.keys, func(key string) bool { return snippetLacks(r.value(earlier, key), r.value(wanted, key)) })
	}
	if !slices.ContainsFunc(p.keys, func(key string) bool { return r.value(earlier, key) != r.value(wanted, key) }) {
		return false
	}
	asking := wanted
	if p.Opens {
		asking = earlier
	}
	return p.asks == nil || r.asks(asking, p.asks)
}

// unknown returns the annotations with the controller's prefix that are in no table, sorted.
func (r reader) unknown(versions ...*networkingv1.Ingress) []string {
	var keys []string
	for _, version := range versions {
		for name := range version.Annotations {
			if key, ours := strings.CutPrefix(name, r.prefix); ours && !known[key] {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// hostsOfTLS returns the hosts in spec.tls of an ingress. Hosts with a certificate redirect to
// HTTPS. An entry without hosts applies to all hosts.
func hostsOfTLS(ingress *networkingv1.Ingress) map[string]bool {
	hosts := make(map[string]bool)
	for _, entry := range ingress.Spec.TLS {
		for _, host := range entry.Hosts {
			hosts[host] = true
		}
		if len(entry.Hosts) == 0 {
			hosts[""] = true
		}
	}
	return hosts
}

func covers(all, wanted map[string]bool) bool {
	for one := range wanted {
		if !all[one] {
			return false
		}
	}
	return true
}

func (r reader) isCanary(ingress *networkingv1.Ingress) bool {
	return annotations.ProbablyTrue(r.value(ingress, "canary"))
}

// closureOf returns a Closure of everything that a version of an ingress serves.
func (r reader) closureOf(wanted *networkingv1.Ingress, reason string) snapshot.Closure {
	return snapshot.Closure{
		Reason:             reason,
		ClientCertificates: r.value(wanted, "auth-tls-secret") != "",
		ServerSnippet:      snippetLacks("", r.value(wanted, "server-snippet")),
	}
}
