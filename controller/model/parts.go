package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

// part is what a group of ingresses becomes. Ingresses that could affect each other, because they
// name the same host or service port, are in the same group; see names. So a part depends on no
// other one, except through shared. One part, the common one, also has everything that belongs to
// no ingress: the server for all other names, the default backend, TCP and UDP.
type part struct {
	ingresses []*networkingv1.Ingress // including those that are left out
	names     []string
	common    bool

	servers          []*Server // sorted by hostname
	backends         Backends  // sorted by name; only the common part has the default backend
	redirects        []Redirect
	passthrough      []PassthroughBackend
	files            map[string][]byte
	findings         []Finding
	variables        map[string]bool // see builder.variables
	hasStreamSnippet bool            // whether an ingress has one
	*reads
}

// reads is what a part depends on besides its ingresses.
type reads struct {
	// decisive are the backends whose first or last endpoint affects more than the backend itself.
	// frozen are the services for which any change of endpoints does.
	decisive map[string]bool
	frozen   map[types.NamespacedName]bool
	// The objects that were looked up, including missing ones.
	services, configMaps, secrets map[types.NamespacedName]bool
}

func newReads() *reads {
	return &reads{
		decisive:   make(map[string]bool),
		frozen:     make(map[types.NamespacedName]bool),
		services:   make(map[types.NamespacedName]bool),
		configMaps: make(map[types.NamespacedName]bool),
		secrets:    make(map[types.NamespacedName]bool),
	}
}

// followed returns the services whose slices the part depends on.
func (p *part) followed() []types.NamespacedName {
	all := maps.Clone(p.frozen)
	for _, backend := range p.backends {
		if backend.source.follows() {
			all[snapshot.NameOf(backend.source.service)] = true
		}
	}
	return slices.Collect(maps.Keys(all))
}

// commonName is the name that the common part has.
const commonName = "host " + DefaultServerName

// namesOf returns what other ingresses could share with an ingress: its hosts and their aliases and
// counterparts with www, and the backends that it leads to.
func (b *builder) namesOf(ingress *networkingv1.Ingress) []string {
	var all []string
	set := b.annotations(ingress)
	for _, host := range append(hosts(ingress), set.Aliases...) {
		all = append(all, "host "+host)
	}
	if set.Redirect.FromToWWW {
		for _, host := range hosts(ingress) {
			all = append(all, "host "+counterpart(host))
		}
	}
	if wanted := ingress.Spec.DefaultBackend; wanted != nil && wanted.Service != nil {
		all = append(all, "backend "+backendName(ingress.Namespace, wanted.Service))
		if len(ingress.Spec.Rules) == 0 || b.isCanary(ingress) {
			all = append(all, commonName)
		}
	}
	for path := range paths(ingress) {
		if path.Backend.Service != nil {
			all = append(all, "backend "+backendName(ingress.Namespace, path.Backend.Service))
		}
	}
	if name := set.Backend.DefaultBackend; name != "" {
		all = append(all, "backend "+fallbackName(types.NamespacedName{Namespace: ingress.Namespace, Name: name}))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// counterpart returns the host with www if it has none, and without it if it has.
func counterpart(host string) string {
	if bare, had := strings.CutPrefix(host, "www."); had {
		return bare
	}
	return "www." + host
}

// group is a list of ingresses for one part, and the names of all of them.
type group struct {
	ingresses []*networkingv1.Ingress
	names     []string
}

// grouped divides ingresses into groups that share no name. The order within each group stays. The
// first group is that of the common part.
func grouped(ingresses []*networkingv1.Ingress, namesOf func(*networkingv1.Ingress) []string) []group {
	// leader is a forest with one tree per group; the common group has the root 0, the ingress i
	// is the node i+1.
	leader := make([]int, len(ingresses)+1)
	for i := range leader {
		leader[i] = i
	}
	root := func(i int) int {
		for leader[i] != i {
			leader[i] = leader[leader[i]]
			i = leader[i]
		}
		return i
	}
	holder := map[string]int{commonName: 0}
	names := make([][]string, len(ingresses))
	for i, ingress := range ingresses {
		names[i] = namesOf(ingress)
		for _, name := range names[i] {
			other, known := holder[name]
			if !known {
				holder[name] = i + 1
				continue
			}
			a, b := root(other), root(i+1)
			leader[max(a, b)] = min(a, b)
		}
	}
	groups := []group{{names: []string{commonName}}}
	place := map[int]int{0: 0}
	for i, ingress := range ingresses {
		r := root(i + 1)
		at, known := place[r]
		if !known {
			at = len(groups)
			place[r], groups = at, append(groups, group{})
		}
		groups[at].ingresses = append(groups[at].ingresses, ingress)
		groups[at].names = append(groups[at].names, names[i]...)
	}
	return groups
}

func compareServers(x, y *Server) int    { return cmp.Compare(x.Hostname, y.Hostname) }
func compareBackends(x, y *Backend) int  { return cmp.Compare(x.Name, y.Name) }
func compareRedirects(x, y Redirect) int { return cmp.Compare(x.From, y.From) }
func comparePassthrough(x, y PassthroughBackend) int {
	return cmp.Compare(x.Hostname, y.Hostname)
}

// replaced returns a sorted list without some of its elements, and with others.
func replaced[T any](list []T, gone, come []T, compare func(x, y T) int) []T {
	if len(gone) == 0 && len(come) == 0 {
		return list
	}
	gone, come = slices.SortedFunc(slices.Values(gone), compare), slices.SortedFunc(slices.Values(come), compare)
	next := make([]T, 0, len(list)-len(gone)+len(come))
	for _, element := range list {
		for len(come) > 0 && compare(come[0], element) < 0 {
			next, come = append(next, come[0]), come[1:]
		}
		if len(gone) > 0 && compare(gone[0], element) == 0 {
			gone = gone[1:]
			continue
		}
		next = append(next, element)
	}
	return append(next, come...)
}

// sortFindings sorts findings, so their order does not depend on parts.
func sortFindings(all []Finding) []Finding {
	slices.SortFunc(all, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Object, y.Object), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Reason, y.Reason))
	})
	return all
}
