package annotations

import "strings"

// CorsConfig is cross-origin resource sharing.
type CorsConfig struct {
	CorsEnabled          bool
	CorsAllowOrigin      []string
	CorsAllowMethods     string
	CorsAllowHeaders     string
	CorsAllowCredentials bool
	CorsExposeHeaders    string
	CorsMaxAge           int // seconds
}

var (
	origin  = pattern(`\*|null|[A-Za-z][A-Za-z0-9+.\-]*://(?:\*\.)?[A-Za-z0-9.\-]+(?::\d{1,5})?`, "*, null, or scheme://host[:port] where the host may begin with *.")
	methods = ListOf(pattern(`[A-Za-z]+`, "methods of HTTP"))
	exposed = Want{"* or a list of header names", func(s string) bool { return s == "*" || Headers.ok(s) }}
)

var cors = Family{
	Name: "cross-origin requests",
	Keys: []Key{
		{Name: "enable-cors", Doc: "Let pages of other origins ask; without it the others do nothing.", Risk: Low, Scope: OfLocation, Want: Boolean},
		{Name: "cors-allow-origin", Doc: "Which origins.", Risk: Medium, Scope: OfLocation, Want: ListOf(origin)},
		{Name: "cors-allow-methods", Doc: "With which methods.", Risk: Medium, Scope: OfLocation, Want: methods},
		{Name: "cors-allow-headers", Doc: "With which headers.", Risk: Medium, Scope: OfLocation, Want: Headers},
		{Name: "cors-expose-headers", Doc: "Which headers of answers they see.", Risk: Medium, Scope: OfLocation, Want: exposed},
		{Name: "cors-allow-credentials", Doc: "With cookies and passwords.", Risk: Low, Scope: OfLocation, Want: Boolean},
		{Name: "cors-max-age", Doc: "Seconds for which browsers need not ask again.", Risk: Low, Scope: OfLocation, Want: Number},
	},
	parse: func(r *reader, set *Set) {
		if !r.flag("enable-cors", false) {
			return
		}
		set.CorsConfig = CorsConfig{
			CorsEnabled:          true,
			CorsAllowOrigin:      origins(r.list("cors-allow-origin")),
			CorsAllowMethods:     r.text("cors-allow-methods", "GET, PUT, POST, DELETE, PATCH, OPTIONS"),
			CorsAllowHeaders:     r.text("cors-allow-headers", "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization"),
			CorsAllowCredentials: r.flag("cors-allow-credentials", true),
			CorsExposeHeaders:    r.text("cors-expose-headers", ""),
			CorsMaxAge:           r.number("cors-max-age", 1728000),
		}
	},
}

// origins is the list, or * if that stands in it or nothing does.
func origins(listed []string) []string {
	if len(listed) == 0 || strings.Contains(","+strings.Join(listed, ",")+",", ",*,") {
		return []string{"*"}
	}
	return listed
}
