package annotations

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// CorsConfig contains the options of cross-origin resource sharing (CORS).
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
	methods = inOne(ListOf(pattern(`[A-Za-z]+`, "HTTP methods")))
	exposed = Want{Text: "* or a list of header names", ok: func(s string) bool { return s == "*" || Headers.ok(s) }}
)

var cors = Family{
	Name: "cross-origin requests",
	Keys: []Key{
		{Name: "enable-cors", Doc: "Allow requests of pages from other origins; required by the other annotations of this group.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: crossOrigin, TurnsOn: true},
		{Name: "cors-allow-origin", Doc: "Allowed origins; * allows all. If the list has no valid item, no origin is allowed.", Risk: Medium, Scope: OfLocation, Want: Want{Text: ListOf(origin).Text}, Bad: DropsItems, Protects: crossOrigin},
		{Name: "cors-allow-methods", Doc: "Allowed methods.", Risk: Medium, Scope: OfLocation, Want: methods, Bad: AllowsNothing, Protects: crossOrigin},
		{Name: "cors-allow-headers", Doc: "Allowed request headers.", Risk: Medium, Scope: OfLocation, Want: Headers, Bad: AllowsNothing, Protects: crossOrigin},
		{Name: "cors-expose-headers", Doc: "Response headers that scripts can read.", Risk: Medium, Scope: OfLocation, Want: exposed, Protects: crossOrigin},
		{Name: "cors-allow-credentials", Doc: "Allow cookies and passwords.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: AllowsNothing, Protects: crossOrigin},
		{Name: "cors-max-age", Doc: "Seconds for which browsers cache the preflight response.", Risk: Low, Scope: OfLocation, Want: AtMost(math.MaxInt32), Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		if !r.flag("enable-cors", false) {
			return
		}
		set.CorsConfig = CorsConfig{
			CorsEnabled:          true,
			CorsAllowOrigin:      r.origins("cors-allow-origin"),
			CorsAllowMethods:     r.allowed("cors-allow-methods", "GET, PUT, POST, DELETE, PATCH, OPTIONS"),
			CorsAllowHeaders:     r.allowed("cors-allow-headers", "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization"),
			CorsAllowCredentials: r.flag("cors-allow-credentials", !r.isBad("cors-allow-credentials")),
			CorsExposeHeaders:    r.text("cors-expose-headers", ""),
			CorsMaxAge:           r.number("cors-max-age", 1728000),
		}
	},
}

// origins returns the valid origins in the value of a key, or * if the value contains
// it or the key is absent. Invalid items never widen access: if no valid origin is
// left, no origin is allowed.
func (r *reader) origins(name string) []string {
	if !r.has(name) {
		return []string{"*"}
	}
	items := r.list(name)
	if len(items) > mostItems {
		r.note(name, fmt.Sprintf("want at most %d items; no origin is allowed", mostItems))
		return nil
	}
	var good, bad []string
	for _, item := range items {
		if origin.ok(item) {
			good = append(good, item)
		} else {
			bad = append(bad, shown(item))
		}
	}
	if slices.Contains(good, "*") {
		good = []string{"*"}
	}
	switch {
	case len(good) == 0:
		r.note(name, "want "+origin.Text+"; no origin is allowed")
	case len(bad) > 0:
		r.note(name, "want "+origin.Text+"; left out: "+some(bad))
	}
	return good
}

// mostNamed limits how many items a problem names.
const mostNamed = 10

// some formats the first items of a list, and the number of further items.
func some(items []string) string {
	if more := len(items) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:mostNamed], ", "), more)
	}
	return strings.Join(items, ", ")
}
