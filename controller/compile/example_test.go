package compile_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

const cluster = `
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
---
apiVersion: v1
kind: ConfigMap
metadata: {name: controller, namespace: ingress-nginx}
data: {keep-alive: forever}
`

// This example compiles a cluster whose ConfigMap has an invalid value. The value becomes a finding,
// and its default applies.
func ExampleCompile() {
	source, err := snapshot.FromYAML(snapshot.File{Name: "cluster.yaml", Data: []byte(cluster)})
	if err != nil {
		log.Fatal(err)
	}
	compiled, err := compile.Compile(snapshot.Take(source), compile.Input{
		Input: render.Input{Options: options.Options{
			Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true,
		}},
		ConfigMap: types.NamespacedName{Namespace: "ingress-nginx", Name: "controller"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, finding := range compiled.Findings {
		fmt.Println(finding)
	}
	for _, server := range compiled.Model.Servers {
		fmt.Println("server", server.Hostname)
	}
	fmt.Println("default applies:", compiled.State.Conf.Contains([]byte("keepalive_timeout 75s;")))
	// Output:
	// ConfigMap ingress-nginx/controller: keep-alive: "forever": want a whole number; using 75
	// server _
	// server shop.example
	// default applies: true
}
