package explain_test

import (
	"log"
	"os"
	"strings"

	"windtunnel.dev/controller/explain"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

const shop = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 8080}]
endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: nginx
  rules:
  - host: shop.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
`

func read(manifests string) *snapshot.Manifests {
	source, err := snapshot.FromYAML(snapshot.File{Name: "shop.yaml", Data: []byte(manifests)})
	if err != nil {
		log.Fatal(err)
	}
	return source
}

// This example shows what the controller does when a service moves to another pod.
func ExampleOf() {
	moved := strings.Replace(shop, "10.0.0.1", "10.0.0.2", 1)
	explanation, err := explain.Of(read(shop), read(moved), explain.Options{
		Flags: options.Options{
			Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true,
		},
		IngressClass: "nginx",
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := explanation.Write(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// No reload: nginx is updated while it runs.
	//
	// post-backends, 835 bytes
	//   shop-web-80 endpoint 10.0.0.1:8080 -> shop-web-80 endpoint 10.0.0.2:8080
}
