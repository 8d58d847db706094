package annotations

import (
	"slices"
	"strconv"
)

// answered are the statuses that nginx's error_page accepts. 499 is internal to nginx.
var answered = Want{Text: "statuses from 400 to 599 but 499", ok: func(s string) bool { return Between(400, 498).ok(s) || Between(500, 599).ok(s) }}

var customErrors = Family{
	Name: "errors",
	Keys: []Key{
		{Name: "custom-http-errors", Doc: "Statuses of pods for which the default backend answers instead.", Risk: Low, Scope: OfLocation, Want: ListOf(answered), Bad: RejectsAll, Protects: interceptedErrors},
		{Name: "disable-proxy-intercept-errors", Doc: "Pass the statuses of custom-http-errors through.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: interceptedErrors},
	},
	parse: func(r *reader, set *Set) {
		set.DisableProxyInterceptErrors = r.flag("disable-proxy-intercept-errors", false)
		for _, item := range r.list("custom-http-errors") {
			code, err := strconv.Atoi(item)
			if err != nil {
				r.bad("custom-http-errors", "want statuses")
				continue
			}
			if !slices.Contains(set.CustomHTTPErrors, code) {
				set.CustomHTTPErrors = append(set.CustomHTTPErrors, code)
			}
		}
	},
}
