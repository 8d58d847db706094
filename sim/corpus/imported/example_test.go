package imported_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/corpus/imported"
	"windtunnel.dev/sim/manifest"
)

// This example finds the targets of a cluster. One of its hosts asks for a password.
func ExampleOf() {
	manifests, err := manifest.Parse("cluster.yaml", []byte(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - {host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: admin, namespace: shop, annotations: {nginx.ingress.kubernetes.io/auth-type: basic}}
spec:
  ingressClassName: nginx
  rules:
  - {host: admin.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {ports: [{port: 80}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 3000}]
endpoints: [{addresses: [10.0.0.1]}, {addresses: [10.0.0.2]}]
`))
	if err != nil {
		log.Fatal(err)
	}
	population, summary, err := imported.Of(manifests, imported.Options{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, target := range population.Targets() {
		fmt.Println(target.URL(), "is answered by", target.Service)
	}
	fmt.Println(summary.Pods, "pods; left out:", summary.LeftOut[0])
	// Output:
	// http://shop.example.com/ is answered by shop/web
	// 2 pods; left out: 1 × a path with the annotation auth-type (shop/admin: admin.example.com/)
}
