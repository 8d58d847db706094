package plan_test

import (
	"fmt"
	"log"
	"strings"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
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

// stateOf runs the controller's stages on manifests and returns the bytes that nginx would read.
func stateOf(manifests string) plan.State {
	source, err := snapshot.FromYAML(snapshot.File{Name: "shop.yaml", Data: []byte(manifests)})
	if err != nil {
		log.Fatal(err)
	}
	opts := options.Options{Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true}
	built, _ := model.Build(snapshot.Take(source), opts)
	state, err := plan.Next(built, render.Input{Options: opts})
	if err != nil {
		log.Fatal(err)
	}
	return state
}

// A new pod address is posted to Lua; a new path needs a new nginx.conf.
func ExampleDiff() {
	running := stateOf(shop)
	for _, next := range []string{
		strings.Replace(shop, "10.0.0.1", "10.0.0.2", 1),
		strings.Replace(shop, "path: /,", "path: /cart,", 1),
	} {
		for _, step := range plan.Diff(running, stateOf(next)) {
			fmt.Println(step.Kind, step.Why[0])
		}
	}
	// Output:
	// post-backends shop-web-80 endpoint 10.0.0.1:8080 -> shop-web-80 endpoint 10.0.0.2:8080
	// reload server shop.example location "/cart/": + location
}
