package annotations

import (
	"slices"
	"strconv"
)

// CustomErrors is which of a pod's answers are taken for errors.
type CustomErrors struct {
	Codes                       []int
	DisableProxyInterceptErrors bool
}

// answered are the statuses that error_page takes; 499 is nginx's own.
var answered = Want{Text: "statuses from 400 to 599 but 499", ok: func(s string) bool { return Between(400, 498).ok(s) || Between(500, 599).ok(s) }}

var customErrors = Family{
	Name: "errors",
	Keys: []Key{
		{Name: "custom-http-errors", Doc: "Statuses of pods for which the default backend answers instead.", Risk: Low, Scope: OfLocation, Want: ListOf(answered), Bad: RejectsAll},
		{Name: "disable-proxy-intercept-errors", Doc: "Pass the statuses of custom-http-errors through.", Risk: Low, Scope: OfLocation, Want: Boolean},
	},
	parse: func(r *reader, set *Set) {
		set.CustomErrors.DisableProxyInterceptErrors = r.flag("disable-proxy-intercept-errors", false)
		for _, item := range r.list("custom-http-errors") {
			code, err := strconv.Atoi(item)
			if err != nil {
				r.bad("custom-http-errors", "want statuses")
				continue
			}
			if !slices.Contains(set.CustomErrors.Codes, code) {
				set.CustomErrors.Codes = append(set.CustomErrors.Codes, code)
			}
		}
	},
}
