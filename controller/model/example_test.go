package model_test

import (
	"fmt"
	"log"
	"strings"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// Build converts manifests into servers, locations and backends, and reports its problems as
// findings.
func ExampleBuild() {
	manifests, err := snapshot.FromYAML(snapshot.File{Name: "shop.yaml", Data: []byte(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
  - host: shop.example
    http:
      paths: [{path: /cart, pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]
`)})
	if err != nil {
		log.Fatal(err)
	}
	built, findings := model.Build(snapshot.Take(manifests), options.Options{
		Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true,
	})
	for _, server := range built.Servers {
		for _, location := range server.Locations {
			fmt.Println(server.Hostname, location.Path, location.Backend)
		}
	}
	for _, finding := range findings {
		if strings.HasPrefix(finding.Object, "Ingress") {
			fmt.Println(finding)
		}
	}
	// Output:
	// _ / upstream-default-backend
	// shop.example /cart shop-web-80
	// shop.example / upstream-default-backend
	// Ingress shop/web: spec.rules[0].http.paths[0]: service shop/web does not exist; requests get 503
}
