package annotations

import "strings"

// Affinity is how a client is kept at one pod.
type Affinity struct {
	Type           string // cookie, or empty for none
	Mode           string // balanced or persistent
	CanaryBehavior string // sticky, or legacy for none on canaries
	Cookie         Cookie
}

// Cookie is the cookie that keeps a client at a pod.
type Cookie struct {
	Name                    string
	Expires                 string // seconds
	MaxAge                  string // seconds
	Path                    string // empty is the location's
	Domain                  string
	SameSite                string // None, Lax, Strict or empty
	Secure                  *bool  // nil goes by the request
	ConditionalSameSiteNone bool
	ChangeOnFailure         bool
}

var seconds = Want{Text: "a number of seconds, of at most ten years", ok: func(s string) bool {
	return secondsChars.ok(s) && Between(-mostSeconds, mostSeconds).ok(s)
}}

// mostSeconds is ten years; browsers keep no cookie for longer than 400 days (RFC 6265bis).
const mostSeconds = 10 * 366 * 24 * 60 * 60

var secondsChars = pattern(`0|[+\-]?[1-9]\d{0,9}`, "")

var affinity = Family{
	Name: "session affinity",
	Keys: []Key{
		{Name: "affinity", Doc: "How a client is kept at one pod: cookie.", Risk: Low, Scope: OfBackend, Want: OneOf("cookie")},
		{Name: "affinity-mode", Doc: "balanced moves some clients when pods come; persistent moves only those whose pod is gone.", Risk: Medium, Scope: OfBackend, Want: OneOf("balanced", "persistent")},
		{Name: "affinity-canary-behavior", Doc: "On a canary: sticky keeps clients at it, too; legacy does not.", Risk: Low, Scope: OfCanary, Want: OneOf("sticky", "legacy")},
		{Name: "session-cookie-name", Doc: "Name of the cookie.", Risk: Medium, Scope: OfBackend, Want: Basic},
		{Name: "session-cookie-expires", Doc: "Its Expires, in seconds from now.", Risk: Medium, Scope: OfBackend, Want: seconds},
		{Name: "session-cookie-max-age", Doc: "Its Max-Age, in seconds.", Risk: Medium, Scope: OfBackend, Want: seconds},
		{Name: "session-cookie-path", Doc: "Its Path; the location's unless given. Regular expressions need one.", Risk: Medium, Scope: OfBackend, Want: URL},
		{Name: "session-cookie-domain", Doc: "Its Domain.", Risk: Medium, Scope: OfBackend, Want: Basic},
		{Name: "session-cookie-samesite", Doc: "Its SameSite: None, Lax or Strict.", Risk: Low, Scope: OfBackend, Want: pattern(`(?i)none|lax|strict`, "None, Lax or Strict")},
		{Name: "session-cookie-secure", Doc: "Its Secure; by default only over HTTPS.", Risk: Low, Scope: OfBackend, Want: Boolean},
		{Name: "session-cookie-conditional-samesite-none", Doc: "Leave SameSite=None out for browsers that misread it.", Risk: Low, Scope: OfBackend, Want: Boolean},
		{Name: "session-cookie-change-on-failure", Doc: "Move a client whose pod failed.", Risk: Low, Scope: OfBackend, Want: Boolean},
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

// sameSite is the value as the cookie libraries of Lua want it.
func sameSite(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.ToLower(text[1:])
}
