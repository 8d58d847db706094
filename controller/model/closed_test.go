package model_test

import (
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

const tenants = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: demo}
spec: {clusterIP: 10.0.0.1, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: old, namespace: demo, creationTimestamp: "2026-01-01T00:00:00Z"OLD}
spec:
  rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: bad
  namespace: demo
  creationTimestamp: "2026-01-02T00:00:00Z"
  annotations: {nginx.ingress.kubernetes.io/server-alias: b.example, nginx.ingress.kubernetes.io/load-balance: ewma}
spec:
  rules:
  - host: a.example
    http:
      paths:
      - {path: /x, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /y, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}
`

// served summarizes a server in one line: its names, then its paths, with closed ones in brackets.
func served(s *model.Server) string {
	parts := []string{s.Hostname}
	parts = append(parts, s.Aliases...)
	for _, l := range s.Locations {
		path := l.Path
		if l.Denied != nil {
			path = "[" + path + "]"
		}
		parts = append(parts, path)
	}
	return strings.Join(parts, " ")
}

// A closed ingress answers 503 and keeps its names. It does not affect the backends of other
// ingresses.
func TestClosedIngresses(t *testing.T) {
	place := func(path string) snapshot.Route { return snapshot.Route{Host: "a.example", Path: path, Exact: true} }
	for name, test := range map[string]struct {
		closure snapshot.Closure
		old     string // annotations of the older ingress
		want    string
	}{
		"all":                          {snapshot.Closure{Reason: "x"}, "", "a.example b.example [/y] [/x] /"},
		"a place":                      {snapshot.Closure{Reason: "x", Routes: map[snapshot.Route]bool{place("/y"): true}}, "", "a.example b.example [/y] /x /"},
		"the host":                     {snapshot.Closure{Reason: "x", ServerSnippet: true}, "", "a.example b.example [/y] [/x] [/]"},
		"the host has its own snippet": {snapshot.Closure{Reason: "x", ServerSnippet: true}, `nginx.ingress.kubernetes.io/server-snippet: "etag off;"`, "a.example b.example [/y] [/x] /"},
		"by certificates":              {snapshot.Closure{Reason: "x", ClientCertificates: true}, "", "a.example b.example [/y] [/x] [/]"},
		"the host asks for its own":    {snapshot.Closure{Reason: "x", ClientCertificates: true}, `nginx.ingress.kubernetes.io/auth-tls-secret: demo/none`, "a.example b.example [/y] [/x] /"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(tenants, "OLD", ", annotations: {"+test.old+"}", 1)
			manifests, err := snapshot.FromYAML(snapshot.File{Name: "tenants.yaml", Data: []byte(text)})
			if err != nil {
				t.Fatal(err)
			}
			cluster := snapshot.Take(manifests)
			bad := slices.IndexFunc(cluster.Ingresses, func(i *networkingv1.Ingress) bool { return i.Name == "bad" })
			cluster.Closed = map[*networkingv1.Ingress]snapshot.Closure{cluster.Ingresses[bad]: test.closure}
			config := options.Defaults(2, false)
			config.AllowSnippetAnnotations, config.AnnotationsRiskLevel = true, "Critical"
			built, _ := model.Build(cluster, options.Options{Config: config, Ports: options.DefaultPorts, DynamicConfiguration: true})
			i := slices.IndexFunc(built.Servers, func(s *model.Server) bool { return s.Hostname == "a.example" })
			if got := served(built.Servers[i]); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if backend := built.Backends.Find("demo-web-80"); backend.LoadBalancing != "" {
				t.Errorf("the closed ingress sets load-balance %s for the backend of another ingress", backend.LoadBalancing)
			}
		})
	}
}

// An ingress with canary: "true" and another invalid annotation claims no path of the primary, even
// if it is older.
func TestInvalidCanaryClaimsNothing(t *testing.T) {
	canary, primary := ingress("canary", path("/", false)), ingress("primary", path("/", false))
	canary.Annotations = map[string]string{"nginx.ingress.kubernetes.io/canary": "yes", "nginx.ingress.kubernetes.io/canary-weight": "10"}
	all, findings := locations(canary, primary)
	if got := answerer(all, "/"); got != "demo-primary-80" {
		t.Errorf("answered by %s, findings %v", got, findings)
	}
}
