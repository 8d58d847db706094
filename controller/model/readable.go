package model

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/controller/options"
)

// keepReadable replaces annotation values for which nginx would reject the whole configuration:
// unknown variables, invalid regular expressions, unknown ciphers. It reports each replacement as a
// finding.
func (b *builder) keepReadable() {
	for _, host := range slices.Sorted(maps.Keys(b.servers)) {
		server := b.servers[host]
		patterns := slices.ContainsFunc(server.Locations, (*Location).makesPatterns)
		for _, location := range server.Locations {
			r := readable{b, location}
			r.texts()
			r.ciphers(server)
			r.certificateNames(server)
			r.headers()
			if patterns {
				r.path()
			}
		}
	}
}

// readable checks and corrects one location.
type readable struct {
	*builder
	location *Location
}

// find adds a finding about an annotation. It drops duplicates, because all locations of an ingress
// have the same annotations.
func (r readable) find(annotation, reason string, args ...any) {
	if r.location.Ingress == nil {
		return // the value is from the ConfigMap, which package options checks
	}
	before := len(r.findings)
	r.builder.find(r.location.Ingress.Ingress, r.annotationKey(annotation), reason, args...)
	if slices.Contains(r.findings[:before], r.findings[before]) {
		r.builder.findings = r.findings[:before]
	}
}

// texts checks the values in which nginx expands variables.
func (r readable) texts() {
	if r.options.ForeignTemplate {
		return // it may define its own variables
	}
	l := r.location
	for _, text := range []struct {
		annotation string
		value      *string
	}{
		{r.redirectAnnotation(), &l.Redirect.URL},
		{"rewrite-target", &l.Rewrite.Target},
		{"app-root", &l.Rewrite.AppRoot},
		{"x-forwarded-prefix", &l.XForwardedPrefix},
		{"upstream-vhost", &l.UpstreamVhost},
		{"auth-url", &l.ExternalAuth.URL},
		{"auth-url", &l.ExternalAuth.Host},
		{"auth-signin", &l.ExternalAuth.SigninURL},
		{"auth-request-redirect", &l.ExternalAuth.RequestRedirect},
		{"auth-realm", &l.BasicDigestAuth.Realm},
		{"mirror-target", &l.Mirror.Target},
		{"mirror-host", &l.Mirror.Host},
		{"modsecurity-transaction-id", &l.ModSecurity.TransactionID},
		{"fastcgi-index", &l.FastCGI.Index},
		{"proxy-ssl-name", &l.ProxySSL.ProxySSLName},
		{"proxy-redirect-to", &l.Proxy.ProxyRedirectTo},
	} {
		*text.value = r.text(text.annotation, *text.value)
	}
	r.cacheKey()
	for _, pair := range []struct {
		annotation string
		value      *string
	}{{"proxy-cookie-domain", &l.Proxy.CookieDomain}, {"proxy-cookie-path", &l.Proxy.CookiePath}} {
		*pair.value = r.pair(pair.annotation, *pair.value)
	}
	if pattern, ok := strings.CutPrefix(l.Proxy.ProxyRedirectFrom, "~"); ok {
		if err := options.BadPattern(strings.TrimPrefix(pattern, "*")); err != nil {
			r.find("proxy-redirect-from", "%v; redirects are left as they are", err)
			l.Proxy.ProxyRedirectFrom, l.Proxy.ProxyRedirectTo = "off", "off"
		}
	}
	l.ExternalAuth.ProxySetHeaders = r.values("auth-proxy-set-headers", l.ExternalAuth.ProxySetHeaders)
	l.CustomHeaders.Headers = r.values("custom-headers", l.CustomHeaders.Headers)
	l.FastCGI.Params = r.values("fastcgi-params-configmap", l.FastCGI.Params)
}

// redirectAnnotation returns the annotation with the target of the location's redirect.
func (r readable) redirectAnnotation() string {
	const temporal = "temporal-redirect"
	if l := r.location; l.Redirect.URL != "" && r.annotationOf(l.Ingress.Ingress, temporal) != l.Redirect.URL {
		return "permanent-redirect"
	}
	return temporal
}

func (r readable) text(annotation, text string) string {
	known, unknown := escapeUnknownVariables(text, r.further)
	if len(strconv.Quote(known)) > longestText {
		r.find(annotation, "a text of more than %d bytes does not fit into nginx.conf; requests get 503", longestText)
		r.deny(annotation)
		return ""
	}
	if len(unknown) > 0 {
		r.find(annotation, "nginx has no variable %s; the dollar sign is taken literally", unknown[0])
	}
	return known
}

// cacheKey checks the key under which the responses of external authentication are cached. If a
// variable in it were missing, one client could get the response for another.
func (r readable) cacheKey() {
	key := &r.location.ExternalAuth.AuthCacheKey
	if _, unknown := escapeUnknownVariables(*key, r.further); len(unknown) > 0 {
		r.find("auth-cache-key", "nginx has no variable %s; responses are not cached", unknown[0])
		*key = ""
		return
	}
	*key = r.text("auth-cache-key", *key)
}

// deny makes the location answer 503. Without the annotation, the location might admit more clients
// than it should.
func (r readable) deny(annotation string) {
	if r.location.Denied == nil {
		r.location.Denied = new(r.annotationKey(annotation) + ": it does not fit into nginx.conf")
	}
}

// longestText is the maximum length of a text in nginx.conf, in bytes. Some texts share one
// parameter; see longestPath.
const longestText = 2500

// pair checks a value that is "off", or a pattern and its replacement.
func (r readable) pair(annotation, text string) string {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return text
	}
	for i, field := range fields {
		pattern, is := strings.CutPrefix(field, "~")
		if i > 0 || !is {
			fields[i] = r.text(annotation, field)
		} else if err := options.BadPattern(strings.TrimPrefix(pattern, "*")); err != nil || pattern == "" {
			r.find(annotation, "%s is not a valid pattern; it is ignored", shown(field))
			return "off"
		}
	}
	return strings.Join(fields, " ")
}

// values checks the values from a ConfigMap. It copies the map, because the original may belong to
// a snapshot.
func (r readable) values(annotation string, given map[string]string) map[string]string {
	values := maps.Clone(given)
	for _, name := range slices.Sorted(maps.Keys(values)) {
		values[name] = r.text(annotation, values[name])
	}
	return values
}

// path checks a path that nginx matches as a regular expression. An invalid expression is matched
// literally. If the literal does not fit into nginx.conf, requests with the same beginning are
// denied.
func (r readable) path() {
	if r.location.Beginning {
		r.location.Path = regexp.QuoteMeta(r.location.Path)
		return
	}
	if err := options.BadPattern(r.location.Path); err != nil {
		r.find("use-regex", "path %s is not a valid regular expression (%v); it is matched literally", shown(r.location.Path), err)
		r.location.IngressPath = r.location.Path
		r.location.Path = regexp.QuoteMeta(r.location.Path)
		if len(strconv.Quote(r.location.Path)) > longestPath {
			const reason = "matched literally, it does not fit into nginx.conf"
			r.find("use-regex", "path %s: %s; requests with the same beginning get 503", shown(r.location.IngressPath), reason)
			r.location.Path = regexp.QuoteMeta(beginningOf(r.location.IngressPath))
			r.location.Beginning, r.location.Denied = true, new(reason)
		}
	}
}

// certificateNames checks the name expected in pods' certificates and the pattern for names in
// client certificates. With an invalid pattern, no client is admitted.
func (r readable) certificateNames(server *Server) {
	if !r.options.ForeignTemplate {
		server.ProxySSL.ProxySSLName = r.text("proxy-ssl-name", server.ProxySSL.ProxySSLName)
	}
	pattern := server.CertificateAuth.MatchCN
	if pattern == "" {
		return
	}
	if err := options.BadPattern(pattern); err != nil {
		r.find("auth-tls-match-cn", "%s is not a valid pattern (%v); requests for %s get 403", shown(pattern), err, server.Hostname)
		server.CertificateAuth.MatchCN, server.AuthTLSError = "", "auth-tls-match-cn is not a valid pattern"
	}
}

// LongestHeader is the maximum length of a header name, in bytes, for requests to gRPC and FastCGI
// pods. nginx's hash tables for them have buckets of 64 bytes, which no directive changes
// (ngx_http_grpc_module, ngx_http_fastcgi_module).
const LongestHeader = 46

// headers reports headers whose names are too long. Package render omits them.
func (r readable) headers() {
	protocol := strings.ToUpper(r.location.BackendProtocol)
	if protocol != "GRPC" && protocol != "GRPCS" && protocol != "FCGI" {
		return
	}
	for _, asked := range []struct {
		annotation string
		names      []string
	}{
		{"auth-response-headers", r.location.ExternalAuth.ResponseHeaders},
		{"custom-headers", slices.Collect(maps.Keys(r.location.CustomHeaders.Headers))},
	} {
		if slices.ContainsFunc(asked.names, func(name string) bool { return len(name) > LongestHeader }) {
			r.find(asked.annotation, "with backend-protocol %s nginx accepts header names of at most %d bytes; longer ones are left out", protocol, LongestHeader)
		}
	}
}

// ciphers checks the cipher lists of the location and of its server.
func (r readable) ciphers(server *Server) {
	for _, list := range []struct {
		annotation, otherwise string
		value                 *string
	}{
		{"ssl-ciphers", "", &server.SSLCiphers},
		{"proxy-ssl-ciphers", "DEFAULT", &server.ProxySSL.Ciphers},
		{"proxy-ssl-ciphers", "DEFAULT", &r.location.ProxySSL.Ciphers},
	} {
		if *list.value != "" && !options.KnowsCiphers(*list.value) {
			r.find(list.annotation, "%s: OpenSSL knows none of these ciphers; the list is ignored", shown(*list.value))
			*list.value = list.otherwise
		}
	}
}
