package annotations

// Rewrite contains the options of path rewriting and redirects.
type Rewrite struct {
	Target                string // the new path; may contain captures
	AppRoot               string // the target of redirects from "/"
	SSLRedirect           bool   // redirect to HTTPS on hosts with a certificate
	ForceSSLRedirect      bool   // redirect to HTTPS on all hosts
	PreserveTrailingSlash bool
	UseRegex              bool // paths are regular expressions
}

var appRoot = variables(pattern(`/[/\-._~a-zA-Z0-9:$]*`, "a path that begins with /"))

var rewrite = Family{
	Name: "rewriting",
	Keys: []Key{
		{Name: "rewrite-target", Doc: "Path to request from pods; $1 is the first capture of the ingress path.", Risk: Medium, Scope: OfLocation, Want: Capture, Bad: RejectsAll, Protects: podRequests},
		{Name: "use-regex", Doc: "Paths are regular expressions; applies to the whole host.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll, Protects: podRequests},
		{Name: "app-root", Doc: "Where requests of / are redirected.", Risk: Medium, Scope: OfServer, Want: appRoot, Protects: Harmless},
		{Name: "ssl-redirect", Doc: "Redirect HTTP to HTTPS if the host has a certificate.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll, Protects: redirectToHTTPS},
		{Name: "force-ssl-redirect", Doc: "Redirect HTTP to HTTPS.", Risk: Medium, Scope: OfLocation, Want: Boolean, Bad: RejectsAll, Protects: redirectToHTTPS},
		{Name: "use-port-in-redirects", Doc: "Include the port in redirects to HTTPS.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: Harmless},
		{Name: "preserve-trailing-slash", Doc: "Keep a trailing slash in that redirect.", Risk: Medium, Scope: OfLocation, Want: Boolean, Protects: Harmless},
		{Name: "x-forwarded-prefix", Doc: "X-Forwarded-Prefix sent to pods; requires rewrite-target.", Risk: Medium, Scope: OfLocation, Want: Capture, Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		c := r.options.Config
		set.UsePortInRedirects = r.flag("use-port-in-redirects", c.UsePortInRedirects)
		set.XForwardedPrefix = r.text("x-forwarded-prefix", "")
		set.Rewrite = Rewrite{
			Target:                r.text("rewrite-target", ""),
			UseRegex:              r.flag("use-regex", false),
			SSLRedirect:           r.flag("ssl-redirect", c.SSLRedirect),
			ForceSSLRedirect:      r.flag("force-ssl-redirect", c.ForceSSLRedirect),
			PreserveTrailingSlash: r.flag("preserve-trailing-slash", c.PreserveTrailingSlash),
			AppRoot:               r.text("app-root", ""),
		}
		if set.Rewrite.UseRegex && set.Affinity.Type != "" && set.Affinity.Cookie.Path == "" {
			r.note("use-regex", "the session cookie's path is the expression, so clients will not send it; set session-cookie-path")
		}
	},
}
