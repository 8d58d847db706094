package run

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/behave"
)

// A group is a list of cases with the same flags: one subject runs them all. Within it, cases with
// the same ConfigMap share batches.
type group struct {
	flags   map[string]string
	batches []batch
}

// A batch is a list of cases that are applied together, because none of them can affect the answers
// of another one: they have the same flags and ConfigMap, and no host or namespace in common.
type batch struct {
	config map[string]string
	cases  []*behave.Case
}

// grouped divides the cases into groups and batches. Groups are in the order of their first case,
// batches as well.
func grouped(cases []*behave.Case) []group {
	var groups []group
	byFlags := map[string]int{}
	open := map[string][]*claims{} // by flags and config: what the batches of that config claim
	index := map[string][]int{}
	for _, c := range cases {
		flags := canonical(c.Flags)
		g, known := byFlags[flags]
		if !known {
			g = len(groups)
			byFlags[flags] = g
			groups = append(groups, group{flags: c.Flags})
		}
		key := flags + "\x00" + canonical(c.Config)
		wanted := claimsOf(c)
		i := slices.IndexFunc(open[key], func(taken *claims) bool { return !taken.overlaps(wanted) })
		if i < 0 {
			open[key] = append(open[key], &claims{})
			index[key] = append(index[key], len(groups[g].batches))
			groups[g].batches = append(groups[g].batches, batch{config: c.Config})
			i = len(open[key]) - 1
		}
		open[key][i].add(wanted)
		b := &groups[g].batches[index[key][i]]
		b.cases = append(b.cases, c)
	}
	return groups
}

// canonical returns a text that is equal for equal maps.
func canonical(settings map[string]string) string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&all, "%q=%q;", name, settings[name])
	}
	return all.String()
}

// claims are what a case has for itself in a cluster.
type claims struct {
	everything bool // an ingress without a host, or a change of the ConfigMap, affects all others
	hosts      []string
	namespaces []string
}

// claimsOf returns the claims of a case.
func claimsOf(c *behave.Case) claims {
	all := claims{namespaces: []string{Namespace(c)}}
	all.everything = slices.ContainsFunc(c.Steps, func(s behave.Step) bool { return s.Config != nil || s.Expect.Reload != nil })
	for _, manifest := range c.Manifests {
		if namespace := manifest.Object.GetNamespace(); namespace != "" {
			all.namespaces = append(all.namespaces, namespace)
		}
		if manifest.Object.GetKind() == "Namespace" {
			all.namespaces = append(all.namespaces, manifest.Object.GetName())
		}
		if manifest.Object.GetKind() != "Ingress" {
			continue
		}
		var ingress networkingv1.Ingress
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(manifest.Object.Object, &ingress); err != nil {
			all.everything = true // the API server will say what is wrong with it
			continue
		}
		all.everything = all.everything || ingress.Spec.DefaultBackend != nil
		for _, rule := range ingress.Spec.Rules {
			if rule.Host == "" {
				all.everything = true
			}
			all.hosts = append(all.hosts, rule.Host)
		}
		for _, tls := range ingress.Spec.TLS {
			all.hosts = append(all.hosts, tls.Hosts...)
		}
		for name, value := range ingress.Annotations {
			if strings.HasSuffix(name, "/server-alias") {
				all.everything = all.everything || strings.HasPrefix(strings.TrimSpace(value), "~")
				for alias := range strings.SplitSeq(value, ",") {
					all.hosts = append(all.hosts, strings.TrimSpace(alias))
				}
			}
		}
	}
	return all
}

func (c *claims) add(more claims) {
	c.everything = c.everything || more.everything
	c.hosts = append(c.hosts, more.hosts...)
	c.namespaces = append(c.namespaces, more.namespaces...)
}

// overlaps reports whether cases with these claims can affect each other. Empty claims overlap with
// none.
func (c *claims) overlaps(other claims) bool {
	if len(c.namespaces) == 0 {
		return false
	}
	if c.everything || other.everything {
		return true
	}
	for _, a := range c.hosts {
		for _, b := range other.hosts {
			if related(a, b) || related(b, a) {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.namespaces, func(n string) bool { return slices.Contains(other.namespaces, n) })
}

// related reports whether requests for host b may reach an ingress for host a: because they are
// equal, up to www. (from-to-www-redirect), or because a is a wildcard.
func related(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if strings.TrimPrefix(a, "www.") == strings.TrimPrefix(b, "www.") {
		return true
	}
	suffix, wildcard := strings.CutPrefix(a, "*")
	return wildcard && strings.HasSuffix(b, suffix)
}

// Namespace returns the namespace of a case's objects: its name, with dashes.
func Namespace(c *behave.Case) string {
	return cmp.Or(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(c.Name)), "case")
}
