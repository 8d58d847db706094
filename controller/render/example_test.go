package render_test

import (
	"bytes"
	"fmt"
	"log"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// Render renders a model to nginx.conf. Input.Template can be a user's own nginx.tmpl.
func ExampleRender() {
	source, err := snapshot.FromYAML(snapshot.File{Name: "shop.yaml", Data: []byte(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
  - host: shop.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
`)})
	if err != nil {
		log.Fatal(err)
	}
	opts := options.Options{Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true}
	built, _ := model.Build(snapshot.Take(source), opts)
	conf, err := render.Render(built, render.Input{Options: opts})
	if err != nil {
		log.Fatal(err)
	}
	for line := range bytes.Lines(conf) {
		if bytes.Contains(line, []byte("server_name ")) {
			fmt.Printf("%s", bytes.TrimLeft(line, " \t"))
		}
	}
	// Output:
	// server_name _;
	// server_name "shop.example";
}
