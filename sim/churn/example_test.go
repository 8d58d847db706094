package churn_test

import (
	"fmt"
	"time"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
)

// This replaces two pods per second, for two seconds.
func ExampleRollingUpdate() {
	population := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 2, Pods: 3, Ingresses: 2, Seed: 1})
	stream := churn.RollingUpdate(population, churn.Options{Seed: 1, Rate: 2, For: 2 * time.Second})
	for _, c := range stream.Changes {
		fmt.Println(c.ID, c.At, c.Service, len(c.Add), "in,", len(c.Remove), "out")
	}
	// Output:
	// 1 384.686634ms demo/svc-001 1 in, 1 out
	// 2 808.218111ms demo/svc-001 1 in, 1 out
	// 3 1.392214s demo/svc-001 1 in, 1 out
	// 4 1.898298289s demo/svc-000 1 in, 1 out
}
