package model_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// ingress returns an ingress with paths of one host and service.
func ingress(name string, paths ...networkingv1.HTTPIngressPath) *networkingv1.Ingress {
	for i := range paths {
		paths[i].Backend.Service = &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Number: 80}}
	}
	ingress := new(networkingv1.Ingress)
	ingress.Namespace, ingress.Name = "demo", name
	ingress.Spec.Rules = []networkingv1.IngressRule{{Host: "a.example", IngressRuleValue: networkingv1.IngressRuleValue{
		HTTP: &networkingv1.HTTPIngressRuleValue{Paths: paths},
	}}}
	return ingress
}

func path(text string, isExact bool) networkingv1.HTTPIngressPath {
	if isExact {
		return networkingv1.HTTPIngressPath{Path: text, PathType: new(networkingv1.PathTypeExact)}
	}
	return networkingv1.HTTPIngressPath{Path: text, PathType: new(networkingv1.PathTypePrefix)}
}

func locations(ingresses ...*networkingv1.Ingress) ([]*model.Location, []model.Finding) {
	m, findings := model.Build(snapshot.Snapshot{Ingresses: ingresses}, options.Options{})
	i := slices.IndexFunc(m.Servers, func(s *model.Server) bool { return s.Hostname == "a.example" })
	return m.Servers[i].Locations, findings
}

// answerer returns the backend that nginx would choose: that of an exact match, otherwise that of
// the longest prefix (location in ngx_http_core_module).
func answerer(locations []*model.Location, request string) string {
	best := &model.Location{}
	for _, l := range locations {
		if *l.PathType == networkingv1.PathTypeExact {
			if l.Path == request {
				return l.Backend
			}
		} else if strings.HasPrefix(request, l.Path) && len(l.Path) >= len(best.Path) {
			best = l
		}
	}
	return best.Backend
}

// matches reports whether a path without a trailing slash matches a request, as the Ingress API
// defines it.
func matches(claim string, isExact bool, request string) bool {
	if isExact || claim == "/" {
		return request == claim || !isExact
	}
	return request == claim || strings.HasPrefix(request, claim+"/")
}

// For all paths that two ingresses may claim: no two locations of a server are equal, because nginx
// would reject them; every kept claim gets its requests; the older ingress wins; requests that a
// path does not match in Kubernetes do not reach it.
func FuzzPaths(f *testing.F) {
	f.Add("/p", false, "/p", true, "/p")
	f.Add("/p", false, "/p/", false, "/p/x")
	f.Add("/", true, "/", false, "/")
	f.Add("", false, "p", false, "/pq")
	f.Add("//", false, "/a/../b", true, "//")
	f.Add("/\x00", false, "/$\"\\", true, "/")
	f.Fuzz(func(t *testing.T, older string, olderExact bool, newer string, newerExact bool, request string) {
		all, findings := locations(ingress("older", path(older, olderExact)), ingress("newer", path(newer, newerExact)))
		type key struct {
			path     string
			pathType networkingv1.PathType
		}
		seen := make(map[key]bool)
		for _, l := range all {
			k := key{l.Path, *l.PathType}
			if seen[k] {
				t.Fatalf("two locations %v", k)
			}
			seen[k] = true
		}
		older, newer = cmp.Or(older, "/"), cmp.Or(newer, "/")
		leftOut := slices.ContainsFunc(findings, func(f model.Finding) bool {
			return f.Object == "Ingress demo/older" && (strings.Contains(f.Reason, "the path is left out") || strings.HasSuffix(f.Reason, "requests with the same beginning get 503"))
		})
		if !leftOut && answerer(all, older) != "demo-older-80" && (olderExact || !newerExact || older != newer) {
			t.Errorf("%q of the older is answered by %s", older, answerer(all, older))
		}
		if strings.HasSuffix(older, "/") && older != "/" || leftOut || !strings.HasPrefix(request, "/") {
			return
		}
		only, _ := locations(ingress("older", path(older, olderExact)))
		if got := answerer(only, request) == "demo-older-80"; got != matches(older, olderExact, request) {
			t.Errorf("%q (exact %t) answers %q: %t", older, olderExact, request, got)
		}
	})
}

// A prefix "/p" that is rewritten to itself makes the location "/p/" a pattern, so nginx matches
// all paths of the host as regular expressions. A path that is not a regular expression is matched
// literally.
func TestPathsBesideAPrefixThatIsRewrittenToItself(t *testing.T) {
	itself := ingress("itself", path("/p", false))
	itself.Annotations = map[string]string{annotations.DefaultPrefix + "/rewrite-target": "/p"}
	web := ingress("web", path("/", false), path("/a(b", true))
	m, findings := model.Build(snapshot.Snapshot{Ingresses: []*networkingv1.Ingress{web, itself}}, options.Options{Config: options.Defaults(1, false)})
	if all := m.Servers[1].Locations; !slices.ContainsFunc(all, func(l *model.Location) bool { return l.Path == `/a\(b` }) {
		t.Error("nginx would reject the path /a(b as a regular expression")
	}
	if !slices.ContainsFunc(findings, func(f model.Finding) bool { return strings.Contains(f.Reason, "it is matched literally") }) {
		t.Errorf("findings %v", findings)
	}
}
