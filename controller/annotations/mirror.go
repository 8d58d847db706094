package annotations

import (
	"cmp"
	"net/url"
	"strings"

	"windtunnel.dev/controller/options"
)

// Mirror contains the options of request mirroring.
type Mirror struct {
	Source      string // name of the mirroring location; it has no leading slash, so it never equals a path; empty: no mirroring
	RequestBody string // on or off
	Target      string
	Host        string
}

var mirror = Family{
	Name: "mirroring",
	Keys: []Key{
		{Name: "mirror-target", Doc: "URL to which a copy of each request is sent; it may contain variables.", Risk: High, Scope: OfLocation, Want: Template, Protects: mirroring, TurnsOn: true},
		{Name: "mirror-request-body", Doc: "Include the body in the copy.", Risk: Low, Scope: OfLocation, Want: OnOff, Bad: RejectsAll, Protects: mirroring},
		{Name: "mirror-host", Doc: "The Host header of the copy; default: the host of the URL.", Risk: High, Scope: OfLocation, Want: Template, Protects: mirroring},
	},
	parse: func(r *reader, set *Set) {
		target := r.text("mirror-target", "")
		if target == "" {
			return
		}
		host := hostOf(target)
		if host == "" {
			r.ignore("mirror-target", "want a URL with scheme and host")
			return
		}
		if r.options.Ports.NamesProtected(target) {
			r.ignore("mirror-target", options.ProtectedReason)
			return
		}
		set.Mirror = Mirror{
			Source:      "_mirror-" + cmp.Or(string(r.ingress.UID), r.ingress.Namespace+"_"+r.ingress.Name), // manifest files contain no UID
			RequestBody: r.text("mirror-request-body", "on"),
			Target:      options.WithPath(target),
			Host:        r.text("mirror-host", host),
		}
	},
}

// hostOf returns the host of a URL, without its port and any variables that directly follow it, as
// in https://a.example$request_uri.
func hostOf(target string) string {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "$")
	u, err := url.Parse(scheme + "://" + rest)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
