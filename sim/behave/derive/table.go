package derive

import (
	"slices"
)

// topic is a group of annotations whose effects are asked together.
type topic struct {
	// of are the annotations that have the effect: at least one of them must be set.
	of []string
	// with are further annotations that change what it does.
	with []string
	ask  func(*asker)
	// answer and pod are the headers that the questions record.
	answer, pod []string
}

// topics are the annotations with questions, one group per line. Annotations in no group are in
// silent.
var topics = []topic{
	// redirects
	{of: []string{"ssl-redirect", "force-ssl-redirect"}, with: []string{"preserve-trailing-slash", "use-port-in-redirects"}, ask: askHTTPS},
	{of: []string{"permanent-redirect"}, with: []string{"permanent-redirect-code", "relative-redirects"}, ask: askRedirect},
	{of: []string{"temporal-redirect"}, with: []string{"temporal-redirect-code", "relative-redirects"}, ask: askRedirect},
	{of: []string{"from-to-www-redirect"}, ask: askWWW},
	{of: []string{"app-root"}, ask: askAppRoot},
	// routing
	{of: []string{"rewrite-target"}, ask: byPaths},
	{of: []string{"use-regex"}, ask: byPaths},
	{of: []string{"server-alias"}, ask: askAliases},
	{of: []string{"canary"}, with: []string{
		"canary-weight", "canary-weight-total", "canary-by-header", "canary-by-header-value", "canary-by-header-pattern", "canary-by-cookie", "affinity-canary-behavior",
	}, ask: askCanary},
	{of: []string{"default-backend"}, ask: askNoPods},
	{of: []string{"ssl-passthrough"}, ask: askPassthrough},
	// access
	{of: []string{"auth-type"}, with: []string{"auth-secret", "auth-secret-type", "auth-realm", "satisfy"}, ask: askPassword, answer: []string{"Www-Authenticate"}},
	{of: []string{"auth-url"}, with: []string{
		"auth-method", "auth-signin", "auth-signin-redirect-param", "auth-response-headers", "auth-proxy-set-headers", "auth-request-redirect", "auth-snippet",
		"auth-cache-key", "auth-cache-duration", "auth-always-set-cookie", "satisfy",
	}, ask: askAuthURL},
	{of: []string{"auth-tls-secret"}, with: []string{
		"auth-tls-verify-client", "auth-tls-verify-depth", "auth-tls-error-page", "auth-tls-pass-certificate-to-upstream", "auth-tls-match-cn",
	}, ask: askClientCertificate, pod: clientCertificateHeaders},
	{of: []string{"enable-global-auth"}, ask: askSample},
	{of: []string{"allowlist-source-range", "whitelist-source-range", "denylist-source-range"}, ask: askAddresses},
	{of: []string{"limit-rps", "limit-rpm"}, with: []string{"limit-burst-multiplier", "limit-allowlist", "limit-whitelist"}, ask: askRate},
	{of: []string{"limit-connections"}, ask: askConnections},
	{of: []string{"proxy-body-size"}, ask: askBodySize},
	// headers
	{of: []string{"enable-cors"}, with: []string{
		"cors-allow-origin", "cors-allow-methods", "cors-allow-headers", "cors-expose-headers", "cors-allow-credentials", "cors-max-age",
	}, ask: askCORS, answer: corsHeaders},
	{of: []string{"custom-headers"}, ask: askCustomHeaders},
	{of: []string{"x-forwarded-prefix"}, ask: askPod("X-Forwarded-Prefix"), pod: []string{"X-Forwarded-Prefix"}},
	{of: []string{"connection-proxy-header"}, ask: askPod("Connection"), pod: []string{"Connection"}},
	{of: []string{"upstream-vhost"}, ask: askHost},
	{of: []string{"proxy-cookie-domain", "proxy-cookie-path"}, ask: askPodCookie},
	{of: []string{"proxy-redirect-from", "proxy-redirect-to"}, ask: askPodRedirect},
	{of: []string{"configuration-snippet"}, ask: askEverything},
	{of: []string{"server-snippet"}, ask: askEverything},
	// errors
	{of: []string{"custom-http-errors"}, with: []string{"disable-proxy-intercept-errors", "default-backend"}, ask: askErrors},
	// pods
	{of: []string{"backend-protocol"}, with: []string{"proxy-ssl-name", "proxy-ssl-server-name", "proxy-ssl-secret", "proxy-ssl-verify", "proxy-ssl-verify-depth", "proxy-ssl-protocols", "proxy-ssl-ciphers"}, ask: askProtocol},
	{of: []string{"fastcgi-index", "fastcgi-params-configmap"}, ask: askFastCGI},
	{of: []string{"proxy-http-version"}, ask: askProtocol},
	{of: []string{"affinity"}, with: []string{
		"affinity-mode", "session-cookie-name", "session-cookie-expires", "session-cookie-max-age", "session-cookie-path", "session-cookie-domain", "session-cookie-samesite",
		"session-cookie-secure", "session-cookie-conditional-samesite-none",
	}, ask: askSession},
	{of: []string{"upstream-hash-by"}, with: []string{"upstream-hash-by-subset", "upstream-hash-by-subset-size"}, ask: askHash},
	{of: []string{"mirror-target"}, with: []string{"mirror-host", "mirror-request-body"}, ask: askMirror},
	// TLS
	{of: []string{"ssl-ciphers", "ssl-prefer-server-ciphers"}, ask: askCiphers},
}

const (
	aboutTime     = "not tested: it is about time, which a recording cannot show"
	aboutLogs     = "not tested: it is about logs"
	aboutMemory   = "not tested: clients and pods see no difference"
	aboutSnippets = "not tested: its effect does not follow from its text"
	aboutRetries  = "not tested: it is about pods that fail"
	aboutModules  = "not tested: it needs a module of nginx"
)

// silent maps the annotations without questions to the reasons.
var silent = map[string]string{
	"auth-keepalive":                    aboutMemory,
	"auth-keepalive-share-vars":         aboutMemory,
	"auth-keepalive-requests":           aboutMemory,
	"auth-keepalive-timeout":            aboutMemory,
	"client-body-buffer-size":           aboutMemory,
	"enable-access-log":                 aboutLogs,
	"enable-rewrite-log":                aboutLogs,
	"enable-modsecurity":                aboutModules,
	"enable-owasp-core-rules":           aboutModules,
	"modsecurity-transaction-id":        aboutModules,
	"modsecurity-snippet":               aboutModules,
	"enable-opentelemetry":              aboutModules,
	"opentelemetry-trust-incoming-span": aboutModules,
	"opentelemetry-operation-name":      aboutModules,
	"http2-push-preload":                "not tested: nginx no longer has it",
	"limit-rate":                        aboutTime,
	"limit-rate-after":                  aboutTime,
	"load-balance":                      "not tested: the pods of a service give the same answers",
	"proxy-buffering":                   aboutMemory,
	"proxy-buffers-number":              aboutMemory,
	"proxy-buffer-size":                 aboutMemory,
	"proxy-busy-buffers-size":           aboutMemory,
	"proxy-max-temp-file-size":          aboutMemory,
	"proxy-request-buffering":           aboutMemory,
	"proxy-connect-timeout":             aboutTime,
	"proxy-read-timeout":                aboutTime,
	"proxy-send-timeout":                aboutTime,
	"proxy-next-upstream":               aboutRetries,
	"proxy-next-upstream-timeout":       aboutRetries,
	"proxy-next-upstream-tries":         aboutRetries,
	"session-cookie-change-on-failure":  aboutRetries,
	"stream-snippet":                    aboutSnippets,
	"service-upstream":                  leftOut["service-upstream"],
}

// leftOut maps the annotations that the cases omit to the reasons.
var leftOut = map[string]string{
	"service-upstream": "left out: the cluster IPs of services are not routable in a simulated cluster",
}

// askAnnotations asks about the annotations of an ingress, at its sample path.
func (b *builder) askAnnotations(i *ingress) {
	for name := range i.annots {
		if why := unasked(i, name); why != "" {
			b.notes.add("annotation/"+name, why, i.object())
		}
	}
	s, p := b.sample(i)
	for _, t := range topics {
		if !i.has(t.of...) {
			continue
		}
		a := &asker{builder: b, site: s, path: p, i: i}
		for _, name := range slices.Concat(t.of, t.with) {
			if i.has(name) {
				a.about = append(a.about, "annotation/"+name)
			}
		}
		if s == nil {
			for _, about := range a.about {
				b.notes.add(about, "not tested: the ingress has no path to request", i.object())
			}
			continue
		}
		t.ask(a)
	}
}

// unasked returns why an annotation of an ingress has no questions, or "".
func unasked(i *ingress, name string) string {
	if why, is := silent[name]; is {
		return why
	}
	parent := ""
	for _, t := range topics {
		switch {
		case slices.Contains(t.of, name), slices.Contains(t.with, name) && i.has(t.of...):
			return ""
		case slices.Contains(t.with, name):
			parent = t.of[0]
		}
	}
	if parent == "" {
		return "not tested: windtunnel has no request for it"
	}
	return "not tested: the ingress lacks " + parent
}

// asked returns the headers that questions about the annotations of an ingress record.
func asked(i *ingress) (answer, pod []string) {
	for _, t := range topics {
		if i.has(t.of...) {
			answer, pod = append(answer, t.answer...), append(pod, t.pod...)
		}
	}
	return answer, pod
}
