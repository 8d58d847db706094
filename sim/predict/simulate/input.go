package simulate

import "time"

// Input is the input of the simulation.
type Input struct {
	Cluster    Cluster
	Settings   Settings
	Processors int // on which workers apply new backends
	Changes    []Stream
	Traffic    []Lane
	// For is how long changes are made. The simulation continues until all are served, but not
	// for longer than Settle.
	For, Settle time.Duration
	// SinceSync is the time since the last sync began, at the beginning of the simulation. 0: so
	// long that the rate limit does not matter.
	SinceSync time.Duration
}

// RequestRate returns the number of requests of all lanes per second.
func (in Input) RequestRate() float64 {
	rate := 0.0
	for _, lane := range in.Traffic {
		rate += lane.Rate
	}
	return rate
}

// RequestRatePerProcessor returns the number of requests of all lanes per second for each processor.
func (in Input) RequestRatePerProcessor() float64 {
	return in.RequestRate() / float64(max(in.Processors, 1))
}

// Cluster is the size of a cluster at the beginning.
type Cluster struct {
	Ingresses int `json:"ingresses"`
	Services  int `json:"services"`
	Endpoints int `json:"endpoints"`
}

// Settings are the settings of the controller and nginx that matter for the control loop.
type Settings struct {
	SyncRate        float64 // --sync-rate-limit, per second
	DynamicSyncRate float64 // --dynamic-sync-rate-limit; 0: SyncRate
	Dynamic         bool    // --dynamic-configuration: endpoints are posted to Lua, not rendered
	Push            bool    // --backends-sync=push
	Delta           bool    // --backends-delta
	Workers         int     // worker-processes
	ShutdownTimeout time.Duration
}

// Kind is a kind of change.
type Kind string

// The kinds of changes. All but Edit are those of churn in scenarios.
const (
	RollingUpdate Kind = "rolling-update" // a pod of a service is replaced
	ScaleOut      Kind = "scale-out"      // a service gets one more pod
	NewHosts      Kind = "new-hosts"      // a new ingress
	Edit          Kind = "edit"           // a change of an ingress that needs a reload
	Touch         Kind = "touch"          // a write without a relevant change
)

// Kinds lists the kinds of changes.
var Kinds = []Kind{RollingUpdate, ScaleOut, NewHosts, Edit, Touch}

// Stream is a stream of changes of one kind.
type Stream struct {
	Kind    Kind
	Rate    float64 // per second
	At, For time.Duration
	Poisson bool          // random arrivals; otherwise one at a random time in each of Rate × For slots
	Drain   time.Duration // how long a removed pod keeps serving
}

// Lane is a stream of requests of one kind of client.
type Lane struct {
	Rate    float64       // per second
	Last    time.Duration // how long each request takes; 0: it is answered at once
	Repeats bool          // the client repeats a request whose connection is lost
	New     bool          // each request has its own connection
}
