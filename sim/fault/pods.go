package fault

import "time"

// ofPods are the faults of what nginx sends requests to.
var ofPods = []Fault{
	{Name: "readiness-late", Doc: "Pods that start meanwhile are in their service at once and listen two seconds later, as where readiness goes by a clock.", Strikes: "pods", Lasts: true,
		strike: func(v Victim, _ time.Duration) (over, error) {
			v.Late(2 * time.Second)
			return func() int { return v.Late(0) }, nil
		}},
}
