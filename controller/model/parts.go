package model

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
)

// part is the configuration of a group of ingresses. Ingresses that could affect each other are in
// the same group; see references. So a part depends on no other one, except through shared. One
// part, the common one, also contains everything that belongs to no ingress: the server for all
// other names, the default backend, TCP and UDP.
type part struct {
	group  // its ingresses include those that are left out
	common bool

	servers          []*Server // sorted by hostname
	backends         Backends  // sorted by name; parts may share backends; only the common part has the default backend
	redirects        []Redirect
	passthrough      []PassthroughBackend
	files            map[string][]byte
	findings         []Finding
	variables        map[string]bool // see builder.variables
	hasStreamSnippet bool            // whether an ingress has one
	*reads
}

// reads lists the objects on which a part depends besides its ingresses.
type reads struct {
	// decisive are the backends whose first or last endpoint affects more than the backend itself.
	// frozen are the services for which any change of endpoints does so.
	decisive map[string]bool
	frozen   map[types.NamespacedName]bool
	// The following are the objects that were looked up, including missing ones.
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

// references are the hosts and backends of an ingress that other ingresses may share.
type references struct {
	hosts []string // its hosts and their aliases and counterparts with www; ingresses that share one are in one part
	uses  []backendUse
}

// backendUse is a reference to a backend. If all ingresses give a backend the same settings, all
// parts build it alike and share the result. Otherwise its ingresses are in one part.
type backendUse struct {
	name     string
	settings backendSettings
	joins    bool // its ingresses are in one part
}

// backendSettings are the settings of a backend that come from annotations and depend on neither
// hosts nor paths.
type backendSettings struct {
	loadBalance     string
	hashBy          annotations.UpstreamHashBy
	serviceUpstream bool
}

func (b *builder) referencesOf(ingress *networkingv1.Ingress) references {
	set := b.annotations(ingress)
	r := references{hosts: append(hosts(ingress), set.Aliases...)}
	if set.Redirect.FromToWWW {
		for _, host := range hosts(ingress) {
			r.hosts = append(r.hosts, counterpart(host))
		}
	}
	use := backendUse{
		settings: backendSettings{b.loadBalance(ingress), set.Backend.UpstreamHashBy, set.Backend.ServiceUpstream},
		joins:    b.isCanary(ingress) || set.Affinity.Type != "" || set.Backend.SSLPassthrough,
	}
	add := func(name string) {
		use.name = name
		if !slices.Contains(r.uses, use) {
			r.uses = append(r.uses, use)
		}
	}
	if wanted := ingress.Spec.DefaultBackend; wanted != nil && wanted.Service != nil {
		add(backendName(ingress.Namespace, wanted.Service))
		if len(ingress.Spec.Rules) == 0 || b.isCanary(ingress) {
			r.hosts = append(r.hosts, DefaultServerName)
		}
	}
	for path := range paths(ingress) {
		if path.Backend.Service != nil {
			add(backendName(ingress.Namespace, path.Backend.Service))
		}
	}
	if name := set.Backend.DefaultBackend; name != "" {
		add(fallbackName(types.NamespacedName{Namespace: ingress.Namespace, Name: name}))
	}
	return r
}

// counterpart returns the host with "www." added or removed.
func counterpart(host string) string {
	if bare, had := strings.CutPrefix(host, "www."); had {
		return bare
	}
	return "www." + host
}

// group is a list of ingresses for one part, and their references.
type group struct {
	ingresses []*networkingv1.Ingress
	references
}

// grouped divides ingresses into groups that share no host, and no backend whose ingresses must be
// in one part. joined are backends already known to be such. Each group keeps the order of its
// ingresses. The first group is that of the common part.
func grouped(ingresses []*networkingv1.Ingress, referencesOf func(*networkingv1.Ingress) references, joined map[string]bool) []group {
	all := make([]references, len(ingresses))
	for i, ingress := range ingresses {
		all[i] = referencesOf(ingress)
	}
	join(all, joined)
	// leader is a forest with one tree per group. The root of the common group is node 0; ingress i
	// is node i+1.
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
	hostHolder, backendHolder := map[string]int{DefaultServerName: 0}, make(map[string]int)
	hold := func(holder map[string]int, name string, node int) {
		other, known := holder[name]
		if !known {
			holder[name] = node
			return
		}
		a, b := root(other), root(node)
		leader[max(a, b)] = min(a, b)
	}
	for i, r := range all {
		for _, host := range r.hosts {
			hold(hostHolder, host, i+1)
		}
		for _, use := range r.uses {
			if use.joins {
				hold(backendHolder, use.name, i+1)
			}
		}
	}
	groups := []group{{references: references{hosts: []string{DefaultServerName}}}}
	place := map[int]int{0: 0}
	for i, ingress := range ingresses {
		r := root(i + 1)
		at, known := place[r]
		if !known {
			at = len(groups)
			place[r], groups = at, append(groups, group{})
		}
		g := &groups[at]
		g.ingresses = append(g.ingresses, ingress)
		g.hosts = append(g.hosts, all[i].hosts...)
		g.uses = append(g.uses, all[i].uses...)
	}
	return groups
}

// join marks the uses of each backend whose ingresses must be in one part.
func join(all []references, joined map[string]bool) {
	first := make(map[string]backendUse, len(all))
	for _, r := range all {
		for _, use := range r.uses {
			had, known := first[use.name]
			if !known {
				had = use
			}
			had.joins = had.joins || use.joins || had.settings != use.settings || joined[use.name]
			first[use.name] = had
		}
	}
	for _, r := range all {
		for i := range r.uses {
			r.uses[i].joins = first[r.uses[i].name].joins
		}
	}
}

func compareServers(x, y *Server) int    { return cmp.Compare(x.Hostname, y.Hostname) }
func compareBackends(x, y *Backend) int  { return cmp.Compare(x.Name, y.Name) }
func compareRedirects(x, y Redirect) int { return cmp.Compare(x.From, y.From) }
func comparePassthrough(x, y PassthroughBackend) int {
	return cmp.Compare(x.Hostname, y.Hostname)
}

// replaced returns a sorted list with the elements gone removed and the elements come added.
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

// sortFindings sorts findings and removes duplicates, so the result does not depend on the parts.
func sortFindings(all []Finding) []Finding {
	slices.SortFunc(all, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Object, y.Object), cmp.Compare(x.Key, y.Key), cmp.Compare(x.Reason, y.Reason))
	})
	return slices.Compact(all)
}
