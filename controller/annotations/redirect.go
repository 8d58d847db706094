package annotations

import "strings"

// Redirect contains the options of a location that redirects all requests.
type Redirect struct {
	URL       string // empty: no redirect
	Code      int
	Relative  bool // redirects contain no host
	FromToWWW bool // redirect www.HOST to HOST, or the reverse
}

// isHTTPURL reports whether a text is an absolute HTTP or HTTPS URL.
func isHTTPURL(text string) bool {
	scheme, rest, _ := strings.Cut(text, "://")
	return rest != "" && (scheme == "http" || scheme == "https")
}

var redirect = Family{
	Name: "redirects",
	Keys: []Key{
		{Name: "temporal-redirect", Doc: "Target of a temporary redirect; takes precedence over permanent-redirect. Ignored unless it begins with http:// or https://.", Risk: Medium, Scope: OfLocation, Want: URL, Bad: RejectsAll, Protects: redirection, TurnsOn: true},
		{Name: "temporal-redirect-code", Doc: "Its status, from 300 to 307.", Risk: Low, Scope: OfLocation, Want: Number, Bad: RejectsAll, Protects: Harmless},
		{Name: "permanent-redirect", Doc: "Target of a permanent redirect. Ignored unless it begins with http:// or https://.", Risk: Medium, Scope: OfLocation, Want: URL, Bad: RejectsAll, Protects: redirection, TurnsOn: true},
		{Name: "permanent-redirect-code", Doc: "Its status, from 300 to 308.", Risk: Low, Scope: OfLocation, Want: Number, Bad: RejectsAll, Protects: Harmless},
		{Name: "relative-redirects", Doc: "Send redirects of nginx without scheme and host.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll, Protects: Harmless},
		{Name: "from-to-www-redirect", Doc: "Redirect www.HOST to HOST or, if the host is www.HOST, the reverse.", Risk: Low, Scope: OfServer, Want: Boolean, Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		set.Redirect = Redirect{
			Relative:  r.flag("relative-redirects", false),
			FromToWWW: r.flag("from-to-www-redirect", false),
		}
		temporal, temporalCode := r.target("temporal-redirect"), r.status("temporal-redirect-code", 302, 307)
		permanent, permanentCode := r.target("permanent-redirect"), r.status("permanent-redirect-code", 301, 308)
		switch {
		case temporal != "":
			set.Redirect.URL, set.Redirect.Code = temporal, temporalCode
		case permanent != "":
			set.Redirect.URL, set.Redirect.Code = permanent, permanentCode
		}
	},
}

// target returns the target of a redirect. As in ingress-nginx, a target without scheme and host is
// ignored and does not reject the ingress.
func (r *reader) target(name string) string {
	url := r.text(name, "")
	if url != "" && !isHTTPURL(url) {
		r.ignore(name, "want a URL that begins with http:// or https://")
		return ""
	}
	return url
}

// status returns the status code of a redirect, from 300 to most.
func (r *reader) status(name string, otherwise, most int) int {
	code := r.number(name, otherwise)
	if code < 300 || code > most {
		r.ignore(name, "want "+Between(300, most).Text)
		return otherwise
	}
	return code
}
