package annotations

import "fmt"

// Canary contains the rules for which requests go to the pods of a canary.
type Canary struct {
	Enabled       bool
	Weight        int
	WeightTotal   int
	Header        string
	HeaderValue   string
	HeaderPattern string
	Cookie        string
}

// mostWeight limits weights to the resolution of Lua's random numbers.
const mostWeight = 1000000

var canary = Family{
	Name: "canaries",
	Keys: []Key{
		{Name: "canary", Doc: "The ingress gets a share of the requests of another ingress with the same host and path; required by the other annotations of this group.", Risk: Low, Scope: OfCanary, Want: Boolean, Bad: RejectsAll, Protects: canarySelection},
		{Name: "canary-weight", Doc: "How many of canary-weight-total requests go to the canary.", Risk: Low, Scope: OfCanary, Want: Number, Protects: Harmless},
		{Name: "canary-weight-total", Doc: "The total that canary-weight is a share of; at least 100.", Risk: Low, Scope: OfCanary, Want: Number, Protects: Harmless},
		{Name: "canary-by-header", Doc: "Header: requests with the value always go to the canary, requests with never do not.", Risk: Medium, Scope: OfCanary, Want: Basic, Protects: canarySelection},
		{Name: "canary-by-header-value", Doc: "Requests whose header has this value go to the canary.", Risk: Medium, Scope: OfCanary, Want: Basic, Protects: canarySelection},
		{Name: "canary-by-header-pattern", Doc: "Requests whose header matches this go to the canary; canary-by-header-value takes precedence.", Risk: Medium, Scope: OfCanary, Want: regexChars, Protects: canarySelection},
		{Name: "canary-by-cookie", Doc: "Cookie: requests with the value always go to the canary, requests with never do not.", Risk: Medium, Scope: OfCanary, Want: Basic, Protects: canarySelection},
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
		weight, total := r.weights()
		set.Canary = Canary{
			Enabled:       true,
			Weight:        weight,
			WeightTotal:   total,
			Header:        r.text("canary-by-header", ""),
			HeaderValue:   r.text("canary-by-header-value", ""),
			HeaderPattern: r.text("canary-by-header-pattern", ""),
			Cookie:        r.text("canary-by-cookie", ""),
		}
		if !compiles(set.Canary.HeaderPattern) {
			r.note("canary-by-header-pattern", "no regular expression; requests with the header do not go to the canary")
		}
	},
}

// leastTotal is the total that Lua uses in place of a smaller one.
const leastTotal = 100

// weights returns the canary's weight and the total that it is a share of. A total above the limit
// is reduced together with the weight, which preserves the share.
func (r *reader) weights() (weight, total int) {
	total = r.number("canary-weight-total", leastTotal)
	switch {
	case total > mostWeight:
		r.note("canary-weight-total", fmt.Sprintf("it is above the limit of %d; %[1]d is used, and canary-weight is reduced to the same share", mostWeight))
		share := float64(r.number("canary-weight", 0)) / float64(total)
		return int(min(share, 1) * mostWeight), mostWeight
	case total < leastTotal:
		r.note("canary-weight-total", fmt.Sprintf("want at least %d; %[1]d is used", leastTotal))
	}
	return r.atMost(mostWeight, "canary-weight", 0), total
}
