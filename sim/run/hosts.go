package run

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/internal/suggest"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/step"
)

// unroutedDomain is the domain of hosts that have no ingress on purpose. RFC 2606 reserves it.
const unroutedDomain = ".invalid"

// asksOne reports whether a lane of the scenario asks a single host or service.
func asksOne(s *scenario.Scenario) bool {
	return slices.ContainsFunc(s.Traffic, func(lane scenario.Traffic) bool { return lane.Host != "" || lane.Service != "" })
}

// checkHosts returns an error for each lane whose host neither the population nor a change routes.
func checkHosts(s *scenario.Scenario, of churn.Recording, seed uint64) error {
	if !asksOne(s) || routesBySettings(s) {
		return nil
	}
	all := hostsOf(s, of, seed)
	var errs []error
	for _, lane := range s.Traffic {
		if lane.Host == "" || strings.HasSuffix(lane.Host, unroutedDomain) || all.route(lane.Host) {
			continue
		}
		errs = append(errs, scenario.Problem{
			File: s.File, Line: lane.Line, What: fmt.Sprintf("lane %s: no ingress has the host %s", lane.Lane, lane.Host),
			Mend: all.describe(lane.Host) + "; a host without an ingress on purpose ends with " + unroutedDomain,
		})
	}
	return errors.Join(errs...)
}

// routesBySettings reports whether the settings of a subject may route hosts that no ingress has.
func routesBySettings(s *scenario.Scenario) bool {
	return s.Config["http-snippet"] != "" || slices.ContainsFunc(s.Subjects, func(one scenario.Subject) bool {
		return one.Template != "" || one.Config["http-snippet"] != "" || one.Flags["nginx-template"] != "" || one.Flags["default-backend-service"] != ""
	})
}

// hosts are the hosts that ingresses route during a run.
type hosts struct {
	names map[string]bool // with wildcards, such as *.example.com
	any   bool            // there is a route for every host, or one that we cannot read
}

func hostsOf(s *scenario.Scenario, of churn.Recording, seed uint64) *hosts {
	all := &hosts{names: map[string]bool{}}
	for _, target := range of.Population.Targets() {
		all.names[target.Host] = true
	}
	if of.Population.Cluster != nil {
		for _, object := range of.Population.Cluster.Objects {
			if ingress, ok := object.(*networkingv1.Ingress); ok {
				all.add(ingress)
			}
		}
	}
	for _, ingress := range of.Population.Ingresses {
		all.add(of.Population.Ingress(ingress))
	}
	for _, m := range s.Manifests {
		all.addManifest(m.Object)
	}
	changes := of.Changes
	for _, one := range s.Timeline {
		if one.Churn == scenario.NewHosts {
			stream, _ := step.Stream(one.Churn, of.Population, churn.Options{Seed: seed, Rate: float64(one.Rate), For: one.For, Start: one.At})
			changes = append(changes[:len(changes):len(changes)], stream.Changes...)
		}
	}
	for _, change := range changes {
		if change.Host != "" {
			all.names[change.Host] = true
		}
	}
	return all
}

// addManifest adds the hosts of an object that a step may apply. An object of another API, such as an
// HTTPRoute, may have any host.
func (h *hosts) addManifest(object *unstructured.Unstructured) {
	kind := object.GroupVersionKind()
	switch kind.Group {
	case networkingv1.GroupName:
		var ingress networkingv1.Ingress
		if kind.Kind == "Ingress" && runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &ingress) == nil {
			h.add(&ingress)
		}
	case corev1.GroupName:
		_, snippet, _ := unstructured.NestedString(object.Object, "data", "http-snippet")
		h.any = h.any || snippet
	case discoveryv1.GroupName:
	default:
		h.any = true
	}
}

func (h *hosts) add(ingress *networkingv1.Ingress) {
	h.any = h.any || ingress.Spec.DefaultBackend != nil
	for _, rule := range ingress.Spec.Rules {
		h.addName(rule.Host)
	}
	for _, alias := range ingresshost.Aliases(ingress.Annotations) {
		h.addName(alias)
	}
	if ingresshost.RedirectsWWW(ingress.Annotations) {
		for _, rule := range ingress.Spec.Rules {
			h.addName(ingresshost.OtherWWW(rule.Host))
		}
	}
}

// addName adds a host as an ingress writes it. Without a name, and with a regular expression, it may be any.
func (h *hosts) addName(name string) {
	if name == "" || name[0] == '~' {
		h.any = true
		return
	}
	h.names[strings.ToLower(name)] = true
}

func (h *hosts) route(host string) bool {
	if h.any || h.names[host] {
		return true
	}
	for rest := host; ; {
		_, after, found := strings.Cut(rest, ".")
		if !found {
			return false
		}
		if h.names["*."+after] {
			return true
		}
		rest = after
	}
}

// describe names some hosts, and the one that was probably meant instead of an unknown one.
func (h *hosts) describe(unknown string) string {
	if len(h.names) == 0 {
		return "the scenario has no host: add a manifest with an ingress, or a population"
	}
	return someOf("hosts", slices.Sorted(maps.Keys(h.names)), unknown)
}

// shown is how many names an error lists.
const shown = 3

// someOf lists some names, and suggests the one that is most like an unknown one.
func someOf(kind string, names []string, unknown string) string {
	text := "the " + kind + " are " + strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if question := suggest.DidYouMean(unknown, names); question != "" {
		return question + " (" + text + ")"
	}
	return text
}
