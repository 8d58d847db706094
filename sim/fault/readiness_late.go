package fault

import "time"

// ofPods are the faults of the pods that nginx sends requests to.
var ofPods = []Fault{
	{Name: "readiness-late", Doc: "Pods that start meanwhile are ready in their service at once, but listen only two seconds later, as with a readiness probe that only waits.", Strikes: "pods", Lasts: true,
		strike: func(v Victim, _ time.Duration) (endFunc, error) {
			v.DelayReadiness(2 * time.Second)
			return func() int { return v.DelayReadiness(0) }, nil
		}},
}
