package hunt

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

// reach collects which cases execute each line. Its methods may be called by several goroutines.
type reach struct {
	owners map[string][]*behave.Case // by host

	mu    sync.Mutex
	lines map[string]map[string]bool // the names of the cases of each line
}

func newReach(cases map[string]*behave.Case) *reach {
	r := &reach{owners: map[string][]*behave.Case{}, lines: map[string]map[string]bool{}}
	for _, c := range cases {
		for host := range hosts(c) {
			r.owners[host] = append(r.owners[host], c)
		}
	}
	return r
}

// add records the lines that were executed while these cases ran. A line that was executed for a
// host counts only for the cases with this host.
func (r *reach) add(reached mutate.Reached, cases []*behave.Case) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range cases {
		r.note(c, reached.Everywhere)
	}
	for server, sites := range reached.Servers {
		owners := r.ownersOf(server)
		for _, c := range cases {
			if len(owners) == 0 || slices.Contains(owners, c) {
				r.note(c, sites)
			}
		}
	}
}

func (r *reach) note(c *behave.Case, sites map[string]bool) {
	for site := range sites {
		if r.lines[site] == nil {
			r.lines[site] = map[string]bool{}
		}
		r.lines[site][c.Name] = true
	}
}

// into adds the cases with these names to all, under each line that they execute.
func (r *reach) into(all map[string][]string, names []string) {
	for site, executing := range r.lines {
		for _, name := range names {
			if executing[name] {
				all[site] = append(all[site], name)
			}
		}
		slices.Sort(all[site])
	}
}

// ownersOf returns the cases that have an ingress for a host, exactly or by a wildcard. The default
// server has none.
func (r *reach) ownersOf(host string) []*behave.Case {
	host = strings.TrimPrefix(host, "www.")
	if owners := r.owners[host]; len(owners) > 0 {
		return owners
	}
	_, domain, _ := strings.Cut(host, ".")
	return r.owners["*."+domain]
}

// hosts returns the hosts of a case's ingresses, without www.
func hosts(c *behave.Case) map[string]bool {
	all := map[string]bool{}
	add := func(host string) {
		if host != "" {
			all[strings.TrimPrefix(strings.ToLower(host), "www.")] = true
		}
	}
	for _, m := range c.Manifests {
		if m.Object.GetKind() != "Ingress" {
			continue
		}
		rules, _, _ := unstructured.NestedSlice(m.Object.Object, "spec", "rules")
		for _, rule := range rules {
			fields, _ := rule.(map[string]any)
			host, _ := fields["host"].(string)
			add(host)
		}
		for _, alias := range ingresshost.Aliases(m.Object.GetAnnotations()) {
			add(alias)
		}
	}
	return all
}
