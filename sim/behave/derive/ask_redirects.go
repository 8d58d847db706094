package derive

import (
	"net/url"
	"slices"
	"strings"

	"windtunnel.dev/internal/ingresshost"
	"windtunnel.dev/internal/regexample"
)

// askSample asks for the sample path, with a query.
func askSample(a *asker) { a.get(a.target() + "?windtunnel=1") }

// byPaths adds no questions, because the questions about paths already show the annotation's
// effect.
func byPaths(*asker) {}

// askHTTPS asks over http, directly and through a proxy that has terminated TLS. With
// preserve-trailing-slash, it also asks for a path that ends in a slash.
func askHTTPS(a *asker) {
	target := a.target()
	a.ask("GET", "http", a.site.host, target+"?windtunnel=1")
	a.ask("GET", "http", a.site.host, target).header("X-Forwarded-Proto", "https")
	if a.i.has("preserve-trailing-slash") && !strings.HasSuffix(target, "/") {
		a.ask("GET", "http", a.site.host, target+"/")
	}
}

func askRedirect(a *asker) {
	a.get(a.target() + "?windtunnel=1")
	if a.path.kind != "Exact" {
		a.get(strings.TrimSuffix(a.target(), "/") + "/" + word)
	}
	if a.i.on("relative-redirects") {
		return
	}
	a.ask("POST", a.site.scheme(), a.site.host, a.target()).step.Body = word
}

// askWWW asks for the host with www. before it, or without.
func askWWW(a *asker) {
	if a.site.pattern != a.site.host {
		return
	}
	for _, scheme := range slices.Compact([]string{"http", a.site.scheme()}) {
		q := a.ask("GET", scheme, ingresshost.OtherWWW(a.site.host), a.target()+"?windtunnel=1")
		q.step.TLS.Certificate = ""
	}
}

func askAppRoot(a *asker) {
	a.get("/")
	a.get("/?windtunnel=1")
}

// askAliases asks for the other names of the host.
func askAliases(a *asker) {
	for _, alias := range a.i.aliases() {
		host := a.hostOf(strings.ToLower(alias))
		if pattern, is := strings.CutPrefix(alias, "~"); is {
			var ok bool
			if host, ok = regexample.Of(pattern); !ok {
				a.notes.add("annotation/server-alias", "not tested: no example of this regular expression: "+pattern, a.i.object())
				continue
			}
		} else if before, is := strings.CutSuffix(alias, "*"); is {
			host = before + "example"
		}
		if parsed, err := url.Parse("http://" + host); err != nil || parsed.Host != host || parsed.Hostname() == "" || parsed.Port() != "" {
			a.notes.add("annotation/server-alias", "not tested: no client can request this host: "+host, a.i.object())
			continue
		}
		a.ask("GET", a.site.scheme(), host, a.target())
	}
}

// askPassthrough asks over TLS, which the pods terminate.
func askPassthrough(a *asker) {
	if !isTrue(a.o.Flags["enable-ssl-passthrough"]) {
		a.notes.add("annotation/ssl-passthrough", "not tested: it has no effect without the flag enable-ssl-passthrough", a.i.object())
		return
	}
	a.ask("GET", "https", a.site.host, a.target()).look.sni = true
}
