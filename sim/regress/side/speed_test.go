package side

import (
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/speed"
	"windtunnel.dev/sim/scenario"
)

// cluster has a host whose pod answers, one that redirects to TLS, and one that answers nothing.
const cluster = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 80}]
endpoints: [{addresses: [192.0.2.1]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: plain, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - {host: plain.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: cors, namespace: shop, annotations: {nginx.ingress.kubernetes.io/enable-cors: "true", nginx.ingress.kubernetes.io/force-ssl-redirect: "true"}}
spec:
  ingressClassName: nginx
  rules:
  - {host: cors.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: limits, namespace: shop, annotations: {nginx.ingress.kubernetes.io/limit-rps: "1000"}}
spec:
  ingressClassName: nginx
  rules:
  - {host: limits.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: none, port: {number: 80}}}}]}}
`

// Requests to a location that does much work cost more CPU time. The test measures a real nginx: reloads,
// workers, and requests of each kind.
func TestSpeed(t *testing.T) {
	nginxtest.Find(t, "http_lua")
	edited := edit{"location.tmpl", "set $best_http_host $http_host;", "set $best_http_host $http_host;\nset_by_lua_block $burn { local sum = 0 for i = 1, 100000 do sum = sum + math.sin(i) end return sum }"}
	b := newBench(t)
	side, err := open(scenario.Subject{Template: edited.write(t)}, sideFolder(t), kind{certificate: b.base.offline.Input().Options.DefaultCertificate, ownTemplate: true})
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	r, err := Pair{Base: b.base, Head: side}.Speed(t.Context(), regress.NewCluster("small", []byte(cluster)), speed.Options{Rounds: 6, Progress: func(_, of int) {
		if steps++; of != 14 {
			t.Errorf("%d measurements, want 14", of)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Figures {
		t.Logf("%+v", f)
		switch {
		case strings.HasPrefix(f.Name, "request-cpu"):
			if f.Verdict != speed.More || f.Change < 1 {
				t.Errorf("%s: %s (%+.0f %%) %s, want more", f.Name, f.Verdict, 100*f.Change, f.Why)
			}
		case len(f.Base) != 6 || len(f.Head) != 6:
			t.Errorf("%s has values %v and %v, want six of each", f.Name, f.Base, f.Head)
		case f.Name == "conf-size" && f.Verdict == speed.Unknown:
			t.Errorf("%s: %s", f.Name, f.Why)
		}
	}
	want := []speed.Target{{Kind: "cors", URL: "https://cors.example/", Status: 200}, {Kind: "plain", URL: "http://plain.example/", Status: 200}}
	if len(r.Targets) != 2 || r.Targets[0] != want[0] || r.Targets[1] != want[1] || len(r.NotAsked) != 1 || !strings.Contains(r.NotAsked[0], "http://limits.example/ answers 503") {
		t.Errorf("targets %+v, not asked %q", r.Targets, r.NotAsked)
	}
	if steps != 14 || r.Cluster != "small" || len(r.Figures) < 9 {
		t.Errorf("%d steps, %+v", steps, r)
	}
}
