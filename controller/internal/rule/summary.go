package rule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// Summary formats a model as the lines of a golden file. It omits defaults.
func Summary(m *model.Model) string {
	var text strings.Builder
	for b := range m.Backends.All() {
		fmt.Fprintf(&text, "backend %s ->", b.Name)
		for _, e := range b.Endpoints {
			fmt.Fprintf(&text, " %s", e.HostPort())
		}
		fmt.Fprintln(&text)
		summarizeBackend(&text, b)
	}
	for _, s := range m.Servers {
		fmt.Fprintf(&text, "server %s\n", s.Hostname)
		summarizeServer(&text, s)
		summarizeTLS(&text, s)
		for _, l := range s.Locations {
			of := "nobody"
			if l.Ingress != nil {
				of = snapshot.NameOf(l.Ingress).String()
			}
			fmt.Fprintf(&text, "  %s %s -> %s (of %s)\n", *l.PathType, l.Path, l.Backend, of)
			summarizeLocation(&text, l)
		}
	}
	for _, r := range m.RedirectServers {
		fmt.Fprintf(&text, "redirect %s -> %s\n", r.From, r.To)
	}
	for _, s := range slices.Concat(m.TCPBackends, m.UDPBackends) {
		fmt.Fprintf(&text, "%s port %d -> %s:", s.Backend.Protocol, s.Port, s.Name())
		for _, e := range s.Endpoints {
			fmt.Fprintf(&text, " %s", e.HostPort())
		}
		fmt.Fprintln(&text)
	}
	summarizeSecrets(&text, m)
	return text.String()
}

func summarizeBackend(text *strings.Builder, b *model.Backend) {
	note := func(format string, args ...any) { fmt.Fprintf(text, "  "+format+"\n", args...) }
	if b.LoadBalancing != "" {
		note("load-balance %s", b.LoadBalancing)
	}
	if h := b.UpstreamHashBy; h.By != "" {
		note("by hash of %s, subset %t of %d", h.By, h.Subset, h.SubsetSize)
	}
	if a := b.SessionAffinity; a.Type != "" {
		note("affinity %s, %s, cookie %s", a.Type, a.Mode, summarizeCookie(a.Cookie))
		for _, host := range slices.Sorted(maps.Keys(a.Locations)) {
			note("cookie set on %s %s", host, strings.Join(a.Locations[host], " "))
		}
	}
	if b.NoServer {
		note("only a canary")
	}
	if c := b.TrafficShapingPolicy; c.Enabled {
		note("as a canary %+v", c)
	}
	if len(b.AlternativeBackends) > 0 {
		note("canaries %s", strings.Join(b.AlternativeBackends, " "))
	}
}

func summarizeCookie(c annotations.Cookie) string {
	said := fmt.Sprintf("name=%s expires=%s max-age=%s path=%s domain=%s samesite=%s conditional=%t on-failure=%t",
		c.Name, c.Expires, c.MaxAge, c.Path, c.Domain, c.SameSite, c.ConditionalSameSiteNone, c.ChangeOnFailure)
	if c.Secure != nil {
		said += fmt.Sprintf(" secure=%t", *c.Secure)
	}
	return said
}

func summarizeServer(text *strings.Builder, s *model.Server) {
	for _, part := range []struct{ name, value string }{
		{"aliases", strings.Join(s.Aliases, " ")},
		{"ciphers", s.SSLCiphers},
		{"server's ciphers first", s.SSLPreferServerCiphers},
		{"snippet", s.ServerSnippet},
	} {
		if part.value != "" {
			fmt.Fprintf(text, "  %s: %s\n", part.name, part.value)
		}
	}
}

func summarizeLocation(text *strings.Builder, l *model.Location) {
	note := func(format string, args ...any) { fmt.Fprintf(text, "    "+format+"\n", args...) }
	if l.Rewrite.UseRegex {
		note("a pattern")
	}
	if l.Rewrite.Target != "" {
		note("rewritten to %s", l.Rewrite.Target)
	}
	if l.Rewrite.AppRoot != "" {
		note("/ redirected to %s", l.Rewrite.AppRoot)
	}
	if l.Redirect.URL != "" {
		note("redirected to %s with %d", l.Redirect.URL, l.Redirect.Code)
	}
	if len(l.CustomHTTPErrors) > 0 {
		note("errors %v to %s", l.CustomHTTPErrors, l.DefaultBackendUpstreamName)
	}
	for _, lines := range []struct {
		name   string
		values map[string]string
	}{
		{"headers of answers", l.CustomHeaders.Headers},
		{"FastCGI parameters", l.FastCGI.Params},
		{"headers of questions", l.ExternalAuth.ProxySetHeaders},
	} {
		for _, name := range slices.Sorted(maps.Keys(lines.values)) {
			note("%s: %s %s", lines.name, name, lines.values[name])
		}
	}
	if l.Denied != nil {
		note("denied: %s", *l.Denied)
	}
}
