package observe

import (
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// A rejected ingress has no orphans: its requests get 503 whether its service exists or not.
func TestOrphans(t *testing.T) {
	manifests, err := snapshot.FromYAML(snapshot.File{Name: "shop.yaml", Data: []byte(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, uid: 00000000-0000-0000-0000-000000000001}
spec: {rules: [{host: web.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: gone, port: {number: 80}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: rejected, namespace: shop, uid: 00000000-0000-0000-0000-000000000002}
spec: {rules: [{host: rejected.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: gone, port: {number: 80}}}}]}}]}
`)})
	if err != nil {
		t.Fatal(err)
	}
	cluster := snapshot.Take(manifests)
	i := slices.IndexFunc(cluster.Ingresses, func(ingress *networkingv1.Ingress) bool { return ingress.Name == "rejected" })
	cluster.Closed = map[*networkingv1.Ingress]snapshot.Closure{cluster.Ingresses[i]: {Reason: "rejected"}}
	built, _ := model.Build(cluster, options.Options{Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true})
	if got, want := orphans(built), []metrics.Orphan{{Namespace: "shop", Ingress: "web", Type: metrics.NoService}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
