package annotations

import "strings"

// Affinity contains the session affinity options: whether and how a client stays at one pod.
type Affinity struct {
	Type           string // cookie, or empty for none
	Mode           string // balanced or persistent
	CanaryBehavior string // sticky, or legacy: no affinity for canaries
	Cookie         Cookie
}

// Cookie contains the attributes of the affinity cookie.
type Cookie struct {
	Name                    string
	Expires                 string // seconds
	MaxAge                  string // seconds
	Path                    string // empty: the path of the location
	Domain                  string
	SameSite                string // None, Lax, Strict or empty
	Secure                  *bool  // nil: depends on the request
	ConditionalSameSiteNone bool
	ChangeOnFailure         bool
}

var seconds = Want{Text: "a number of seconds, of at most ten years", ok: func(s string) bool {
	return secondsChars.ok(s) && Between(-mostSeconds, mostSeconds).ok(s)
}}

// mostSeconds is ten years. Browsers limit the lifetime of a cookie to 400 days (RFC 6265bis).
const mostSeconds = 10 * 366 * 24 * 60 * 60

var secondsChars = pattern(`0|[+\-]?[1-9]\d{0,9}`, "")

var affinity = Family{
	Name: "session affinity",
	Keys: []Key{
		{Name: "affinity", Doc: "Session affinity: cookie keeps a client on one pod.", Risk: Low, Scope: OfBackend, Want: OneOf("cookie"), Protects: Harmless},
		{Name: "affinity-mode", Doc: "balanced moves some clients when pods are added; persistent moves only clients whose pod is gone.", Risk: Medium, Scope: OfBackend, Want: OneOf("balanced", "persistent"), Protects: Harmless},
		{Name: "affinity-canary-behavior", Doc: "On a canary: sticky keeps clients on the canary as well; legacy does not.", Risk: Low, Scope: OfCanary, Want: OneOf("sticky", "legacy"), Protects: Harmless},
		{Name: "session-cookie-name", Doc: "Name of the cookie.", Risk: Medium, Scope: OfBackend, Want: Basic, Protects: Harmless},
		{Name: "session-cookie-expires", Doc: "The cookie's Expires, in seconds from now.", Risk: Medium, Scope: OfBackend, Want: seconds, Protects: Harmless},
		{Name: "session-cookie-max-age", Doc: "The cookie's Max-Age, in seconds.", Risk: Medium, Scope: OfBackend, Want: seconds, Protects: Harmless},
		{Name: "session-cookie-path", Doc: "The cookie's Path; default: the location's path. Required for regular expressions.", Risk: Medium, Scope: OfBackend, Want: URL, Protects: Harmless},
		{Name: "session-cookie-domain", Doc: "The cookie's Domain.", Risk: Medium, Scope: OfBackend, Want: Basic, Protects: Harmless},
		{Name: "session-cookie-samesite", Doc: "The cookie's SameSite: None, Lax or Strict.", Risk: Low, Scope: OfBackend, Want: pattern(`(?i)none|lax|strict`, "None, Lax or Strict"), Protects: Harmless},
		{Name: "session-cookie-secure", Doc: "The cookie's Secure; by default set only over HTTPS.", Risk: Low, Scope: OfBackend, Want: Boolean, Protects: Harmless},
		{Name: "session-cookie-conditional-samesite-none", Doc: "Omit SameSite=None for browsers that misinterpret it.", Risk: Low, Scope: OfBackend, Want: Boolean, Protects: Harmless},
		{Name: "session-cookie-change-on-failure", Doc: "Move a client to another pod if its pod failed.", Risk: Low, Scope: OfBackend, Want: Boolean, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		set.Affinity.CanaryBehavior = r.text("affinity-canary-behavior", "sticky")
		if !r.has("affinity") {
			return
		}
		set.Affinity.Type = r.text("affinity", "")
		set.Affinity.Mode = r.text("affinity-mode", "balanced")
		set.Affinity.Cookie = Cookie{
			Name:                    r.text("session-cookie-name", "INGRESSCOOKIE"),
			Expires:                 r.text("session-cookie-expires", ""),
			MaxAge:                  r.text("session-cookie-max-age", ""),
			Path:                    r.text("session-cookie-path", ""),
			Domain:                  r.text("session-cookie-domain", ""),
			SameSite:                sameSite(r.text("session-cookie-samesite", "")),
			Secure:                  r.choice("session-cookie-secure"),
			ConditionalSameSiteNone: r.flag("session-cookie-conditional-samesite-none", false),
			ChangeOnFailure:         r.flag("session-cookie-change-on-failure", false),
		}
	},
}

// sameSite returns the value as Lua's cookie library expects it.
func sameSite(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.ToLower(text[1:])
}
