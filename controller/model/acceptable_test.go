package model_test

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// one is a source with a single ingress.
type one struct {
	snapshot.Source
	ingress *networkingv1.Ingress
}

func (o one) Ingresses() []*networkingv1.Ingress { return []*networkingv1.Ingress{o.ingress} }

// built returns the model and the findings of an ingress for host a.example with the given
// annotations.
func built(t *testing.T, given map[string]string, change func(*networkingv1.Ingress)) (*model.Model, string) {
	t.Helper()
	i := &networkingv1.Ingress{}
	i.Namespace, i.Name, i.Annotations = "demo", "web", make(map[string]string)
	for name, value := range given {
		i.Annotations[annotations.DefaultPrefix+"/"+name] = value
	}
	i.Spec.Rules = []networkingv1.IngressRule{{Host: "a.example", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
		Paths: []networkingv1.HTTPIngressPath{{Path: "/p", Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}}},
	}}}}
	if change != nil {
		change(i)
	}
	m, findings := model.Build(snapshot.Take(one{new(snapshot.Manifests), i}), options.Options{Config: options.Defaults(1, false)})
	var text strings.Builder
	for _, finding := range findings {
		text.WriteString(finding.String() + "\n")
	}
	return m, text.String()
}

// Ingresses with names that the Kubernetes API would reject, or with too many paths, are left out.
func TestUnacceptableIngressesAreLeftOut(t *testing.T) {
	for what, change := range map[string]func(*networkingv1.Ingress){
		"metadata.name":      func(i *networkingv1.Ingress) { i.Name = "a:1m; evil on" },
		"metadata.namespace": func(i *networkingv1.Ingress) { i.Namespace = "a/b" },
		"metadata.uid":       func(i *networkingv1.Ingress) { i.UID = types.UID("a\n}") },
		"not a DNS label":    func(i *networkingv1.Ingress) { i.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name = "a;b" },
		"not the name of a port": func(i *networkingv1.Ingress) {
			i.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Port = networkingv1.ServiceBackendPort{Name: "a;b"}
		},
		"more than 5000": func(i *networkingv1.Ingress) {
			for range 5000 {
				i.Spec.Rules[0].HTTP.Paths = append(i.Spec.Rules[0].HTTP.Paths, i.Spec.Rules[0].HTTP.Paths[0])
			}
		},
	} {
		m, findings := built(t, nil, change)
		if len(m.Servers) != 1 || !strings.Contains(findings, what) || !strings.Contains(findings, "it is left out") {
			t.Errorf("%s: %d servers, findings %s", what, len(m.Servers), findings)
		}
	}
	if m, findings := built(t, nil, nil); len(m.Servers) != 2 {
		t.Errorf("a valid ingress: %d servers, findings %s", len(m.Servers), findings)
	}
}

// If an annotation that protects a location does not fit into nginx.conf, the location is denied.
func TestProtectionThatDoesNotFitDenies(t *testing.T) {
	long := strings.Repeat("$x", 900) // nginx has no such variable, so escaping makes it longer
	for annotation, value := range map[string]string{"auth-url": "http://a.example/" + long, "rewrite-target": "/public/" + long, "upstream-vhost": long, "mirror-target": "http://a.example/" + long} {
		m, findings := built(t, map[string]string{annotation: value}, nil)
		for _, location := range m.Servers[1].Locations {
			if location.Path != "/" && location.Denied == nil {
				t.Errorf("%s: %s is not denied, findings %s", annotation, location.Path, findings)
			}
		}
	}
	list := make([]string, 4000)
	for i := range list {
		list[i] = "10.0." + string(rune('0'+i%10)) + ".0/24"
	}
	_, findings := built(t, map[string]string{"allowlist-source-range": strings.Join(list, ",")}, nil)
	if strings.Contains(findings, "lines of nginx.conf") {
		t.Errorf("an allowlist of 4000 networks on one path is rejected: %s", findings)
	}
}

// Without one of its variables, a cache key might not distinguish clients. Then responses of
// external authentication are not cached.
func TestACacheKeyWithoutItsVariables(t *testing.T) {
	for key, want := range map[string]string{"$cookie_id$http_authorization": "$cookie_id$http_authorization", "$remote_usr": "", "$remote_user": "$remote_user"} {
		m, findings := built(t, map[string]string{"auth-url": "http://a.example/", "auth-cache-key": key}, nil)
		if got := m.Servers[1].Locations[0].ExternalAuth; got.AuthCacheKey != want || got.URL == "" || (want == "") != strings.Contains(findings, "responses are not cached") {
			t.Errorf("%s became %q, findings %s", key, got.AuthCacheKey, findings)
		}
	}
}
