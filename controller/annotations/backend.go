package annotations

// Backend is how a pod is chosen.
type Backend struct {
	LoadBalance     string // round_robin, ewma, …; empty is round_robin
	UpstreamHashBy  UpstreamHashBy
	ServiceUpstream bool   // the service's own address instead of its pods'
	DefaultBackend  string // service that answers when there is no pod, and errors; empty is none
	SSLPassthrough  bool
}

// UpstreamHashBy balances by a hash of what the request says.
type UpstreamHashBy struct {
	By         string // nginx variables and text
	Subset     bool
	SubsetSize int
}
