package imported_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/corpus/imported"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/manifest"
)

func of(t *testing.T, text string, o imported.Options) (corpus.Population, *event.Population, error) {
	t.Helper()
	manifests, err := manifest.Parse("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return imported.Of(manifests, o)
}

// web is a service with one ready endpoint.
const web = `
{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: http, port: 80}, {name: udp, port: 53, protocol: UDP}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: web-1, labels: {kubernetes.io/service-name: web}}, addressType: IPv4,
 ports: [{name: http, port: 3000}, {name: udp, port: 53, protocol: UDP}], endpoints: [{addresses: [10.0.0.1]}]}
---
{apiVersion: v1, kind: Service, metadata: {name: other}, spec: {ports: [{name: http, port: 80}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: other-1, labels: {kubernetes.io/service-name: other}}, addressType: IPv4,
 ports: [{name: http, port: 3000}], endpoints: [{addresses: [10.0.0.2]}]}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: plain}, spec: {ingressClassName: nginx,
 rules: [{host: plain.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}}]}}
`

// ingress returns an ingress of the host x.example; annotations and spec are in the flow style of YAML.
func ingress(name, path, kind, annotations, spec string) string {
	return fmt.Sprintf(`---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: %s, annotations: {%s}}, spec: {%s
 rules: [{host: x.example, http: {paths: [{path: '%s', pathType: %s, backend: {service: {name: web, port: {number: 80}}}}]}}]}}
`, name, annotations, spec, path, kind)
}

const (
	nginx  = "ingressClassName: nginx,"
	prefix = "nginx.ingress.kubernetes.io/"
)

// Each path is a target, or is reported with the reason why it is not.
func TestTargets(t *testing.T) {
	for _, test := range []struct {
		name, more string
		options    imported.Options
		want       []string // further targets
		why        string   // a part of the reason why a path is not a target
	}{
		{name: "a path", more: ingress("x", "/shop", "Exact", "", nginx), want: []string{"http://x.example/shop"}},
		{name: "harmless annotations", more: ingress("x", "/", "Prefix", prefix+"proxy-body-size: 8m, "+prefix+"enable-cors: 'true'", nginx), want: []string{"http://x.example/"}},
		{name: "a regular expression", more: ingress("x", "/api(/|$)(.*)", "ImplementationSpecific", prefix+"rewrite-target: /$2", nginx), want: []string{"http://x.example/api/windtunnel"}},
		{name: "that others do not know", more: ingress("x", "/api", "Prefix", prefix+"use-regex: 'true'", nginx), options: imported.Options{Foreign: true}, why: "not every controller"},
		{name: "the class as an annotation", more: ingress("x", "/", "Prefix", "kubernetes.io/ingress.class: nginx", ""), want: []string{"http://x.example/"}},
		{name: "that others do not read", more: ingress("x", "/", "Prefix", "kubernetes.io/ingress.class: nginx", ""), options: imported.Options{Foreign: true}, why: "class is an annotation"},
		{name: "another class", more: ingress("x", "/", "Prefix", "", "ingressClassName: other,"), why: "the class other, which does not exist"},
		{name: "no class", more: ingress("x", "/", "Prefix", "", ""), why: "without a class"},
		{name: "a redirect", more: ingress("x", "/", "Prefix", prefix+"permanent-redirect: https://y.example", nginx), why: "annotation permanent-redirect"},
		{name: "a login", more: ingress("x", "/", "Prefix", prefix+"auth-url: https://y.example, "+prefix+"auth-cache-key: a", nginx), why: "annotation auth-url"},
		{name: "an unknown annotation", more: ingress("x", "/", "Prefix", prefix+"new-in-1-99: a", nginx), why: "annotation new-in-1-99"},
		{name: "a denied address", more: ingress("x", "/", "Prefix", prefix+"whitelist-source-range: 10.0.0.0/8", nginx), why: "annotation whitelist-source-range"},
		{name: "app-root", more: ingress("x", "/", "Prefix", prefix+"app-root: /start", nginx), why: "annotation app-root"},
		{name: "app-root elsewhere", more: ingress("x", "/shop", "Prefix", prefix+"app-root: /start", nginx), want: []string{"http://x.example/shop"}},
		{name: "a snippet that is rejected", more: ingress("x", "/", "Prefix", prefix+`configuration-snippet: "add_header A b;"`, nginx), why: "allow-snippet-annotations"},
		{name: "a snippet with headers", more: ingress("x", "/", "Prefix", prefix+`configuration-snippet: "add_header A 'b; return 403'; # return"`, nginx), options: imported.Options{Snippets: true}, want: []string{"http://x.example/"}},
		{name: "a snippet that answers", more: ingress("x", "/", "Prefix", prefix+`server-snippet: "if ($a) { return 403; }"`, nginx), options: imported.Options{Snippets: true}, why: "annotation server-snippet, whose directives may answer"},
		{name: "HTTPS without a certificate", more: ingress("x", "/", "Prefix", "", nginx+"tls: [{hosts: [x.example], secretName: gone}],"), why: "without a certificate"},
		{name: "a forced redirect", more: ingress("x", "/", "Prefix", prefix+"force-ssl-redirect: 'true'", nginx), why: "redirected to HTTPS"},
		{name: "the path of another service", more: ingress("x", "/", "Prefix", "", nginx) + strings.ReplaceAll(ingress("second", "/", "Prefix", "", nginx), "web", "other"), why: "another ingress or type of path"},
		{name: "an exact path of a host with regular expressions", more: ingress("x", "/a", "Exact", prefix+"use-regex: 'true'", nginx), want: []string{"http://x.example/a"}},
		{name: "an exact path that a longer expression takes", more: ingress("x", "/abc", "Exact", "", nginx) +
			strings.ReplaceAll(ingress("second", "/[a-z]+(/|$)", "ImplementationSpecific", prefix+"use-regex: 'true'", nginx), "web", "other"),
			want: []string{"http://x.example/w/"}, why: "overlaps with another"},
		{name: "a canary", more: ingress("x", "/", "Prefix", "", nginx) + ingress("second", "/", "Prefix", prefix+"canary: 'true', "+prefix+"canary-weight: '5'", nginx), why: "a canary takes a share"},
		{name: "no such service", more: strings.ReplaceAll(ingress("x", "/", "Prefix", "", nginx), "web", "gone"), why: "service does not exist"},
		{name: "no such port", more: strings.ReplaceAll(ingress("x", "/", "Prefix", "", nginx), "80", "81"), why: "no such port"},
		{name: "a port of UDP", more: strings.ReplaceAll(ingress("x", "/", "Prefix", "", nginx), "80", "53"), why: "no endpoint with the port"},
		{name: "a path that its type forbids", more: ingress("x", "/a(b)", "Prefix", "", nginx), why: "does not allow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			population, summary, err := of(t, web+test.more, test.options)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, target := range population.Targets() {
				got = append(got, target.URL())
			}
			if want := append([]string{"http://plain.example/"}, test.want...); !slices.Equal(got, want) {
				t.Errorf("targets %q, want %q; left out %v", got, want, summary.LeftOut)
			}
			named := slices.ContainsFunc(summary.LeftOut, func(l event.LeftOut) bool {
				return strings.Contains(l.Why, test.why) && l.Count == len(l.Names) && strings.HasPrefix(l.Names[0], "default/")
			})
			if test.why != "" && !named {
				t.Errorf("%q is not named in %v", test.why, summary.LeftOut)
			}
		})
	}
}

// Services get pods for their endpoints, with a port for each name, and unready endpoints stay unready.
func TestServices(t *testing.T) {
	population, summary, err := of(t, web+`---
{apiVersion: v1, kind: Service, metadata: {name: many, namespace: shop}, spec: {ports: [{name: http, port: 80, targetPort: 3000}, {name: admin, port: 81, targetPort: admin}]}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: many-1, namespace: shop, labels: {kubernetes.io/service-name: many}}, addressType: IPv4,
 ports: [{name: http, port: 3000}, {name: admin, port: 9000}],
 endpoints: [{addresses: [10.0.0.1]}, {addresses: [10.0.0.2], conditions: {ready: true}}, {addresses: [10.0.0.3], conditions: {ready: false}}]}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: many-2, namespace: shop, labels: {kubernetes.io/service-name: many}}, addressType: IPv6,
 ports: [{name: http, port: 3000}], endpoints: [{addresses: ["fd00::1"]}]}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: many, namespace: shop}, spec: {ingressClassName: nginx,
 rules: [{host: many.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: many, port: {name: admin}}}}]}}]}}
`, imported.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if summary.Pods != 3 || summary.Unready != 1 || summary.Targets != 2 {
		t.Errorf("%+v", summary)
	}
	n := slices.IndexFunc(population.Services, func(s corpus.Service) bool { return s.Key() == "shop/many" })
	many := population.Services[n]
	if len(many.Pods) != 2 || len(many.Unready()) != 1 || !slices.Equal(many.FurtherPorts(), []int{corpus.DefaultPort + 1}) {
		t.Errorf("pods %q, unready %q, ports %v", many.Pods, many.Unready(), many.FurtherPorts())
	}
	service := many.Object()
	if http, admin := service.Spec.Ports[0].TargetPort, service.Spec.Ports[1].TargetPort; http.IntVal != corpus.DefaultPort || admin.StrVal != "admin" {
		t.Errorf("the ports of the service lead to %v and %v", http, admin)
	}
	if many.Backend().Name != "admin" {
		t.Errorf("new hosts lead to port %v", many.Backend())
	}
	if other, _, _ := of(t, web, imported.Options{Seed: 1}); len(other.Cluster.Unchanged) != 0 || len(other.Services) != 1 {
		t.Errorf("a service that no ingress names has pods: %+v", other)
	}
}

// A slice of an imported service has all pods with their readiness and all ports.
func TestSlices(t *testing.T) {
	population, _, err := of(t, web, imported.Options{})
	if err != nil {
		t.Fatal(err)
	}
	slice := corpus.Slice(population.Services[0], nil)
	if len(slice.Ports) != 2 || *slice.Ports[1].Protocol != corev1.ProtocolUDP || slice.Labels[discoveryv1.LabelServiceName] != "web" {
		t.Errorf("%+v", slice)
	}
}

// The same cluster and seed give the same population, and a generated cluster has targets. Another seed
// gives pods other names.
func TestGeneratedClusters(t *testing.T) {
	text, err := clusters.Generate(100, 3).Manifests()
	if err != nil {
		t.Fatal(err)
	}
	made := func(seed uint64) (corpus.Population, *event.Population) {
		population, summary, err := of(t, string(text), imported.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return population, summary
	}
	one, summary := made(7)
	if two, again := made(7); !reflect.DeepEqual(one, two) || !reflect.DeepEqual(summary, again) {
		t.Error("two imports differ")
	}
	if other, _ := made(8); slices.Equal(one.Services[0].Pods, other.Services[0].Pods) {
		t.Errorf("with another seed, the pods are %q as well", one.Services[0].Pods)
	}
	if len(one.Targets()) < 50 || summary.Ingresses != 100 {
		t.Errorf("%d targets of %d ingresses", len(one.Targets()), summary.Ingresses)
	}
	if !slices.ContainsFunc(one.Targets(), func(t corpus.Target) bool { return t.TLS }) {
		t.Error("no target has TLS")
	}
}

func TestNoTarget(t *testing.T) {
	for text, want := range map[string]string{
		"{apiVersion: v1, kind: Namespace, metadata: {name: a}}": "it has no ingress",
		strings.ReplaceAll(web, "ingressClassName: nginx,", ""):  "1 × an ingress without a class (default/plain)",
	} {
		if _, _, err := of(t, text, imported.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
