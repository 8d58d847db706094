package run

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/sim/behave"
)

// A group is a list of cases with the same flags: each installation runs cases of one group. Within
// it, cases with the same ConfigMap share batches.
type group struct {
	flags         map[string]string
	batches       []batch // that wait for an installation
	installations int     // that run batches of the group now
	full          bool    // the machine has no room for another installation beside these
}

// A batch is a list of cases that are applied together. None of them can affect the answers to
// another one, because they have the same flags and ConfigMap, but no host or namespace in common.
type batch struct {
	config map[string]string
	cases  []*behave.Case
}

// halves divides a batch of at least two cases.
func (b batch) halves() []batch {
	half := len(b.cases) / 2
	return []batch{{b.config, b.cases[:half]}, {b.config, b.cases[half:]}}
}

// A plan says how cases are divided into batches.
type plan struct {
	claims  func(*behave.Case) claims
	length  func(*behave.Case) time.Duration // about how long the steps of a case take
	longest time.Duration                    // about how long those of a batch may take
}

// ordinary is the plan for cases whose steps are performed once. It limits the length of a batch:
// the cases of a batch run one after another, so a batch with many changes would outlast all
// others.
var ordinary = plan{claims: claimsOf, length: lengthOf, longest: 8 * time.Second}

// grouped divides the cases into groups and batches, both in the order of their first case.
func grouped(cases []*behave.Case, by plan) []*group {
	var groups []*group
	byFlags := map[string]*group{}
	taken := map[*group][]*claims{} // what the cases of each batch claim
	length := map[*group][]time.Duration{}
	for _, c := range cases {
		flags := canonical(c.Flags)
		g := byFlags[flags]
		if g == nil {
			g = &group{flags: c.Flags}
			byFlags[flags] = g
			groups = append(groups, g)
		}
		wanted, takes := by.claims(c), by.length(c)
		i := 0
		for i < len(g.batches) && (!maps.Equal(g.batches[i].config, c.Config) || taken[g][i].overlaps(wanted) || length[g][i]+takes > by.longest) {
			i++
		}
		if i == len(g.batches) {
			g.batches = append(g.batches, batch{config: c.Config})
			taken[g] = append(taken[g], &claims{})
			length[g] = append(length[g], 0)
		}
		length[g][i] += takes
		taken[g][i].add(wanted)
		g.batches[i].cases = append(g.batches[i].cases, c)
	}
	return groups
}

// lengthOf estimates how long the steps of a case take.
func lengthOf(c *behave.Case) time.Duration {
	var length time.Duration
	for _, step := range c.Steps {
		if step.Request.Request == "" {
			length += 3 * pollInterval / 2 // until it is live
			continue
		}
		length += time.Duration(max(step.Times, 1)) * 5 * time.Millisecond
		if len(step.Expect.Received) > 0 {
			length += arrival
		}
		if step.Expect.AccessLog != nil || step.Expect.ErrorLog != nil {
			length += logPatience
		}
		if step.Expect.Took != nil {
			length += step.Expect.Took.Min
		}
		if step.Expect.Fails == "timeout" {
			length += step.Timeout
		}
	}
	return length
}

// canonical returns a text that is equal for equal maps.
func canonical(settings map[string]string) string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&all, "%q=%q;", name, settings[name])
	}
	return all.String()
}

// claims are the parts of a cluster that a case cannot share with others.
type claims struct {
	everything bool // it affects all others: an ingress without a host, or a change of the ConfigMap
	hosts      []string
	namespaces []string
}

// claimsOf returns the claims of a case.
func claimsOf(c *behave.Case) claims {
	all := claims{namespaces: []string{Namespace(c)}}
	all.everything = slices.ContainsFunc(c.Steps, func(s behave.Step) bool { return s.Config != nil })
	for _, manifest := range c.Manifests {
		if namespace := manifest.Object.GetNamespace(); namespace != "" {
			all.namespaces = append(all.namespaces, namespace)
		}
		if manifest.Object.GetKind() == "Namespace" {
			all.namespaces = append(all.namespaces, manifest.Object.GetName())
		}
		if manifest.Object.GetKind() == "IngressClass" {
			all.everything = true // it may be the default class, or have the name of another case's class
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
		for _, alias := range ingresshost.Aliases(ingress.Annotations) {
			all.everything = all.everything || alias[0] == '~'
			all.hosts = append(all.hosts, alias)
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
	return strings.TrimPrefix(a, "www.") == strings.TrimPrefix(b, "www.") || ingresshost.WildcardCovers(a, b)
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

// Repeated returns an error if two cases have the same name, because results and objects in the cluster
// are named after their case.
func Repeated(cases []*behave.Case) error {
	files := map[string]string{}
	var wrong []error
	for _, c := range cases {
		namespace := Namespace(c)
		if before, taken := files[namespace]; taken {
			wrong = append(wrong, fmt.Errorf("%s: the name %s is too close to that of %s: both have the namespace %s", c.File, c.Name, filepath.ToSlash(before), namespace))
		}
		files[namespace] = c.File
	}
	return errors.Join(wrong...)
}
