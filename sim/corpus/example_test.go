package corpus_test

import (
	"fmt"

	"windtunnel.dev/sim/corpus"
)

// The same shape and seed give the same population, with the same names.
func ExampleGenerate() {
	population := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 2, Pods: 3, Ingresses: 2, Seed: 1})
	for _, target := range population.Targets() {
		fmt.Println(target.Host, target.Path, target.Service)
	}
	// Output:
	// svc-000.demo.example / demo/svc-000
	// svc-000.demo.example /api demo/svc-000
	// svc-001.demo.example / demo/svc-001
	// svc-001.demo.example /api demo/svc-000
}
