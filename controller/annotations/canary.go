package annotations

// Canary says which requests go to a canary's pods.
type Canary struct {
	Enabled       bool
	Weight        int
	WeightTotal   int
	Header        string
	HeaderValue   string
	HeaderPattern string
	Cookie        string
}

// mostWeight bounds weights by the resolution of Lua's random numbers.
const mostWeight = 1000000

var canary = Family{
	Name: "canaries",
	Keys: []Key{
		{Name: "canary", Doc: "The ingress takes a part of the requests of another one's host and path; without it the others do nothing.", Risk: Low, Scope: OfCanary, Want: Boolean, Bad: RejectsAll},
		{Name: "canary-weight", Doc: "How many of canary-weight-total requests.", Risk: Low, Scope: OfCanary, Want: Number},
		{Name: "canary-weight-total", Doc: "What canary-weight is a part of; at least 100.", Risk: Low, Scope: OfCanary, Want: Number},
		{Name: "canary-by-header", Doc: "Requests with this header and always, and none with never.", Risk: Medium, Scope: OfCanary, Want: Basic},
		{Name: "canary-by-header-value", Doc: "Requests in which that header is this.", Risk: Medium, Scope: OfCanary, Want: Basic},
		{Name: "canary-by-header-pattern", Doc: "Requests in which that header matches this; canary-by-header-value goes before it.", Risk: Medium, Scope: OfCanary, Want: Regex},
		{Name: "canary-by-cookie", Doc: "Requests in which this cookie is always, and none with never.", Risk: Medium, Scope: OfCanary, Want: Basic},
	},
	parse: func(r *reader, set *Set) {
		if !r.flag("canary", false) {
			for _, key := range r.family.Keys[1:] {
				if r.has(key.Name) {
					r.ignore(key.Name, "the annotation canary is not true")
				}
			}
			return
		}
		set.Canary = Canary{
			Enabled:       true,
			Weight:        r.atMost(mostWeight, "canary-weight", 0),
			WeightTotal:   r.atMost(mostWeight, "canary-weight-total", 100),
			Header:        r.text("canary-by-header", ""),
			HeaderValue:   r.text("canary-by-header-value", ""),
			HeaderPattern: r.text("canary-by-header-pattern", ""),
			Cookie:        r.text("canary-by-cookie", ""),
		}
	},
}
