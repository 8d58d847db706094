package event

import "time"

// Clock is the clock of a pod that observes a subject or sends requests to it, over one round. The
// times of its events are on the run's clock already; each may be off by up to Bound.
type Clock struct {
	Pod    string        `json:"pod"`
	Node   string        `json:"node"`
	Role   ClockRole     `json:"role"`
	Offset time.Duration `json:"offset"` // of the node's time of day from that of the harness
	Drift  float64       `json:"drift"`  // how much faster it ran than that of the harness, in parts per million
	Bound  time.Duration `json:"bound"`  // half of the quickest exchange with the pod, at the worst of the times it was measured
}

// ClockRole is what a pod does with its clock.
type ClockRole string

// The roles.
const (
	ObserverClock ClockRole = "observer" // times the workers and their answers
	TrafficClock  ClockRole = "traffic"  // times requests
)

// Missing says which observations are missing in the log, and why. A run in which some are is void.
type Missing struct {
	What string `json:"what"` // such as the requests of pod traffic-1
	Why  string `json:"why"`
}
