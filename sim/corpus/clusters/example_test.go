package clusters_test

import (
	"fmt"

	"windtunnel.dev/sim/corpus/clusters"
)

// This example generates a cluster, and says what the controller must report about it.
func ExampleGenerate() {
	c := clusters.Generate(60, 1)
	for _, f := range c.Findings {
		fmt.Printf("%s, %s: %s\n", f.Object, f.Key, f.Why)
	}
	fmt.Println(c.Flags)
	// Output:
	// Ingress billing/api-29, spec.rules[0].http.paths[0]: a port that the service does not have
	// [--configmap=ingress-nginx/ingress-nginx-controller --default-backend-service=ingress-nginx/default-backend]
}
