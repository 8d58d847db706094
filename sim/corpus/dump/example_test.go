package dump_test

import (
	"fmt"
	"log"

	"windtunnel.dev/sim/corpus/dump"
	"windtunnel.dev/sim/manifest"
)

// This example imports a dump with an ingress, its service, and a Secret that nothing refers to.
func ExampleOf() {
	manifests, err := manifest.Parse("dump.yaml", []byte(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop, uid: 7c1f, labels: {owner: alice}}
spec: {rules: [{host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: shop}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: database, namespace: shop}, stringData: {password: secret}}
`))
	if err != nil {
		log.Fatal(err)
	}
	imported, err := dump.Of(manifests, dump.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("took", imported.Summary.Took)
	fmt.Println("left out", imported.Summary.LeftOut)
	// Output:
	// took map[Ingress:1 Service:1]
	// left out map[Secret that nothing refers to:1]
}
