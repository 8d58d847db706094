package annotations

// Backend contains the load balancing options.
type Backend struct {
	LoadBalance     string // round_robin, ewma, …; empty: round_robin
	UpstreamHashBy  UpstreamHashBy
	ServiceUpstream bool   // use the service's own address instead of those of its pods
	DefaultBackend  string // service that responds if there are no pods, and to errors; empty: none
	SSLPassthrough  bool
}

// UpstreamHashBy contains the options of load balancing by a hash of a request property.
type UpstreamHashBy struct {
	By         string // nginx variables and literal text
	Subset     bool
	SubsetSize int
}

// These methods have the names of the fields that templates for ingress-nginx read.

// UpstreamHashBy returns the text whose hash chooses a pod.
func (u UpstreamHashBy) UpstreamHashBy() string { return u.By }

// UpstreamHashBySubset reports whether the hash selects a subset of the pods.
func (u UpstreamHashBy) UpstreamHashBySubset() bool { return u.Subset }

// UpstreamHashBySubsetSize returns the number of pods in a subset.
func (u UpstreamHashBy) UpstreamHashBySubsetSize() int { return u.SubsetSize }

const subsetSize = 3

// mostInSubset limits the size of a Lua table. Services rarely have more endpoints.
const mostInSubset = 1000

var backend = Family{
	Name: "backends",
	Keys: []Key{
		{Name: "load-balance", Doc: "The load-balancing algorithm.", Risk: Low, Scope: OfBackend, Want: OneOf("round_robin", "chash", "chashsubset", "sticky_balanced", "sticky_persistent", "ewma"), Bad: RejectsAll, Protects: Harmless},
		{Name: "upstream-hash-by", Doc: "Choose a pod by the hash of this text, which may contain nginx variables.", Risk: High, Scope: OfBackend, Want: Variable, Bad: RejectsAll, Protects: Harmless},
		{Name: "upstream-hash-by-subset", Doc: "The hash selects a subset of the pods; each request goes to a random pod of the subset.", Risk: Low, Scope: OfBackend, Want: Boolean, Bad: RejectsAll, Protects: Harmless},
		{Name: "upstream-hash-by-subset-size", Doc: "Number of pods in a subset.", Risk: Low, Scope: OfBackend, Want: Number, Bad: RejectsAll, Protects: Harmless},
		{Name: "service-upstream", Doc: "Send requests to the address of the service instead of its pods.", Risk: Low, Scope: OfBackend, Want: Boolean, Protects: Harmless},
		{Name: "default-backend", Doc: "Service that answers if there is no pod, and for the statuses of custom-http-errors.", Risk: Low, Scope: OfLocation, Want: Label, Bad: RejectsAll, Protects: Harmless},
		{Name: "ssl-passthrough", Doc: "Pass TLS connections to the pods without terminating them.", Risk: Low, Scope: OfServer, Want: Boolean, Bad: RejectsAll, Protects: clientTLS},
	},
	parse: func(r *reader, set *Set) {
		size := r.atMost(mostInSubset, "upstream-hash-by-subset-size", subsetSize)
		if size < 1 { // Lua would divide by zero
			r.ignore("upstream-hash-by-subset-size", "want at least 1")
			size = subsetSize
		}
		set.Backend = Backend{
			LoadBalance: r.text("load-balance", r.options.Config.LoadBalance),
			UpstreamHashBy: UpstreamHashBy{
				By:         r.text("upstream-hash-by", ""),
				Subset:     r.flag("upstream-hash-by-subset", false),
				SubsetSize: size,
			},
			ServiceUpstream: r.flag("service-upstream", r.options.Config.ServiceUpstream),
			DefaultBackend:  r.text("default-backend", ""),
			SSLPassthrough:  r.flag("ssl-passthrough", false),
		}
	},
}
