package clusters

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// feature is a feature that a share of the applications of a cluster uses. The shares are chosen, not
// measured: they make common annotations common, and give each feature enough ingresses in a cluster of
// 1,000.
type feature struct {
	Name    string  // as docs/corpus.md lists it
	Percent float64 // of the applications that it fits
	Fits    string  // the applications that it fits, for readers; empty for all
	fits    func(*application) bool
	apply   func(*application)
}

// The applications that a feature fits. Annotations for a whole host fit only applications that do not
// share it; those for paths do not fit regular expressions of other features.
var (
	anyone    = func(*application) bool { return true }
	ownHost   = func(a *application) bool { return !a.shared && a.host[0] != '*' }
	withTLS   = func(a *application) bool { return a.tls }
	plainHTTP = func(a *application) bool { return !a.has("backend-protocol") }
)

// features is the table, in the order in which they are applied.
var features = []feature{
	// The class and the annotations of other programs.
	{"class as an annotation", 12, "", anyone, classAnnotation},
	{"class of another controller", 1, "own host, no TLS", func(a *application) bool { return ownHost(a) && !a.tls }, foreignClass},
	{"annotations of external-dns", 10, "", anyone, func(a *application) { a.ingress.Annotations["external-dns.alpha.kubernetes.io/ttl"] = "60" }},

	// Paths.
	{"rewrite-target", 12, "", anyone, rewrite},
	{"use-regex without a rewrite", 3, "own host without a rewrite", func(a *application) bool { return ownHost(a) && !a.regex }, regexPaths},
	{"x-forwarded-prefix", 15, "rewrite-target", func(a *application) bool { return a.has("rewrite-target") }, value("x-forwarded-prefix", "/app", "/service")},
	{"app-root", 2, "own host without a rewrite", func(a *application) bool { return ownHost(a) && !a.regex }, value("app-root", "/login", "/ui/", "/app/home")},
	{"several hosts in one ingress", 4, "own host, no TLS", func(a *application) bool { return ownHost(a) && !a.tls }, furtherHost},
	{"default backend in spec", 2, "own host", ownHost, specDefaultBackend},

	// Protocols of pods.
	{"backend-protocol HTTPS", 4, "", anyone, protocol("HTTPS")},
	{"backend-protocol GRPC", 4, "TLS", func(a *application) bool { return withTLS(a) && plainHTTP(a) }, protocol("GRPC")},
	{"backend-protocol GRPCS", 1, "TLS", func(a *application) bool { return withTLS(a) && plainHTTP(a) }, protocol("GRPCS")},
	{"backend-protocol FCGI", 1, "HTTP to pods", plainHTTP, fastCGI},
	{"proxy-ssl-secret", 30, "backend-protocol HTTPS", func(a *application) bool { return a.ingress.Annotations[prefix+"backend-protocol"] == "HTTPS" }, proxySSL},

	// Requests and answers.
	{"proxy-body-size", 28, "", anyone, value("proxy-body-size", "8m", "16m", "50m", "100m", "500m", "1g", "0")},
	{"proxy timeouts", 15, "", anyone, timeouts},
	{"proxy-buffer-size", 6, "", anyone, value("proxy-buffer-size", "8k", "16k", "32k")},
	{"proxy-buffering off", 3, "", anyone, value("proxy-buffering", "off")},
	{"proxy-request-buffering off", 3, "", anyone, value("proxy-request-buffering", "off")},
	{"client-body-buffer-size", 2, "", anyone, value("client-body-buffer-size", "16k", "128k", "1m")},
	{"proxy-http-version", 1, "HTTP to pods", plainHTTP, value("proxy-http-version", "1.1", "1.0")},
	{"proxy-next-upstream", 2, "", anyone, nextUpstream},
	{"proxy-cookie-path", 1, "", anyone, value("proxy-cookie-path", "/ /app")},
	{"connection-proxy-header", 1, "", anyone, value("connection-proxy-header", "keep-alive")},
	{"upstream-vhost", 2, "", anyone, value("upstream-vhost", "internal.example.com", "$service_name.$namespace.svc")},
	{"custom-headers", 2, "", anyone, customHeaders},
	{"custom-http-errors", 2, "", anyone, customErrors},
	{"enable-access-log off", 3, "", anyone, value("enable-access-log", "false")},
	{"mirror-target", 1, "", anyone, value("mirror-target", "http://mirror.platform.svc.cluster.local$request_uri")},

	// Redirects and TLS.
	{"ssl-redirect off", 6, "TLS", withTLS, value("ssl-redirect", "false")},
	{"force-ssl-redirect", 12, "", anyone, value("force-ssl-redirect", "true")},
	{"permanent-redirect", 2, "", anyone, value("permanent-redirect", "https://www.example.com/moved", "https://new.example.org/")},
	{"temporal-redirect", 1, "no permanent-redirect", func(a *application) bool { return !a.has("permanent-redirect") }, value("temporal-redirect", "https://maintenance.example.com/")},
	{"from-to-www-redirect", 2, "own host", ownHost, value("from-to-www-redirect", "true")},
	{"server-alias", 3, "own host, one in the ingress", func(a *application) bool { return ownHost(a) && len(a.ingress.Spec.Rules) == 1 }, serverAlias},
	{"ssl-ciphers", 1, "own host", ownHost, value("ssl-ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256")},

	// Access.
	{"CORS", 9, "", anyone, crossOrigin},
	{"external authentication", 5, "", anyone, externalAuth},
	{"passwords", 3, "", anyone, passwords},
	{"client certificates", 2, "own host with TLS", func(a *application) bool { return ownHost(a) && a.tls }, clientCertificates},
	{"source ranges", 6, "", anyone, sourceRanges},
	{"satisfy any", 30, "passwords and source ranges", func(a *application) bool { return a.has("auth-type") && a.has("whitelist-source-range") }, value("satisfy", "any")},
	{"rate limits", 4, "", anyone, rateLimits},

	// Balancing.
	{"affinity cookie", 6, "", anyone, affinity},
	{"upstream-hash-by", 2, "no affinity", func(a *application) bool { return !a.has("affinity") }, value("upstream-hash-by", "$request_uri", "$remote_addr", "$http_x_tenant")},
	{"load-balance ewma", 2, "no affinity or hash", func(a *application) bool { return !a.has("affinity", "upstream-hash-by") }, value("load-balance", "ewma")},
	{"service-upstream", 3, "a service with a cluster IP", func(a *application) bool { return a.service.Spec.ClusterIP != "" && a.service.Spec.ClusterIP != "None" }, serviceUpstream},

	// Snippets.
	{"configuration-snippet", 5, "", anyone, value("configuration-snippet",
		"more_set_headers \"X-Frame-Options: DENY\";\nmore_set_headers \"X-Content-Type-Options: nosniff\";\n",
		"proxy_set_header X-Tenant $http_x_tenant;\n",
		"if ($request_method = TRACE) {\n  return 405;\n}\n")},
	{"server-snippet", 2, "own host", ownHost, value("server-snippet",
		"location = /robots.txt {\n  return 200 \"User-agent: *\\nDisallow: /\\n\";\n}\n",
		"client_header_timeout 20s;\n")},
}

// value returns a function that sets an annotation to one of the values.
func value(name string, values ...string) func(*application) {
	return func(a *application) { a.set(name, oneOf(a.chance, values...)) }
}

func protocol(name string) func(*application) {
	return func(a *application) {
		if plainHTTP(a) {
			a.set("backend-protocol", name)
		}
	}
}

func classAnnotation(a *application) {
	a.ingress.Spec.IngressClassName = nil
	a.ingress.Annotations["kubernetes.io/ingress.class"] = className
}

func foreignClass(a *application) {
	delete(a.ingress.Annotations, "kubernetes.io/ingress.class")
	a.ingress.Spec.IngressClassName = new(otherClass)
}

// rewrite makes the first path a regular expression, and rewrites requests to what it captures. It
// removes the other paths, because the target has the captures of the first one.
func rewrite(a *application) {
	path := &a.ingress.Spec.Rules[0].HTTP.Paths[0]
	base := path.Path
	if base == "/" {
		base = "/" + oneOf(a.chance, "app", "api", "service")
	}
	path.Path, path.PathType = base+"(/|$)(.*)", new(networkingv1.PathTypeImplementationSpecific)
	a.ingress.Spec.Rules[0].HTTP.Paths = a.ingress.Spec.Rules[0].HTTP.Paths[:1]
	a.set("use-regex", "true")
	a.set("rewrite-target", "/$2")
	a.regex = true
}

func regexPaths(a *application) {
	a.set("use-regex", "true")
	a.regex = true
	rule := a.ingress.Spec.Rules[0].HTTP
	for _, expression := range []string{`/users/[0-9]+/avatar`, `/.*\.(css|js|png|svg)$`, `/(?<lang>[a-z]{2})/docs`} {
		rule.Paths = append(rule.Paths, networkingv1.HTTPIngressPath{
			Path: expression, PathType: new(networkingv1.PathTypeImplementationSpecific), Backend: backendOf(a.service),
		})
	}
}

func furtherHost(a *application) {
	rule := *a.ingress.Spec.Rules[0].DeepCopy()
	rule.Host = "second-" + a.host
	a.ingress.Spec.Rules = append(a.ingress.Spec.Rules, rule)
}

func specDefaultBackend(a *application) {
	backend := backendOf(a.service)
	if len(a.ingress.Spec.Rules[0].HTTP.Paths) > 1 {
		// It answers the requests of the host that no path matches.
		a.ingress.Spec.Rules[0].HTTP.Paths = a.ingress.Spec.Rules[0].HTTP.Paths[1:]
	}
	a.ingress.Spec.DefaultBackend = &backend
}

func timeouts(a *application) {
	seconds := oneOf(a.chance, "5", "30", "120", "300", "600", "3600")
	a.set("proxy-read-timeout", seconds)
	if seconds == "3600" { // for websockets, which need both
		a.set("proxy-send-timeout", seconds)
	} else {
		a.set("proxy-send-timeout", "60")
	}
	if percent(a.chance, 30) {
		a.set("proxy-connect-timeout", oneOf(a.chance, "2", "10", "30"))
	}
}

func nextUpstream(a *application) {
	a.set("proxy-next-upstream", oneOf(a.chance, "error timeout", "error timeout http_502 http_503", "off"))
	a.set("proxy-next-upstream-tries", oneOf(a.chance, "2", "3"))
}

func serverAlias(a *application) {
	alias := "alias-" + a.host
	if percent(a.chance, 30) {
		alias += ",old-" + a.host
	}
	a.set("server-alias", alias)
}

func rateLimits(a *application) {
	switch a.chance.IntN(3) {
	case 0:
		a.set("limit-rps", oneOf(a.chance, "5", "20", "100"))
		a.set("limit-burst-multiplier", oneOf(a.chance, "2", "5"))
	case 1:
		a.set("limit-rpm", oneOf(a.chance, "60", "600"))
	default:
		a.set("limit-connections", oneOf(a.chance, "10", "50"))
	}
	if percent(a.chance, 25) {
		a.set("limit-whitelist", "10.0.0.0/8")
	}
}

func affinity(a *application) {
	a.set("affinity", "cookie")
	if percent(a.chance, 60) {
		a.set("session-cookie-name", oneOf(a.chance, "route", "INGRESSCOOKIE", "stickiness"))
	}
	if percent(a.chance, 40) {
		a.set("session-cookie-max-age", oneOf(a.chance, "3600", "86400", "172800"))
	}
	if percent(a.chance, 30) {
		a.set("affinity-mode", "persistent")
	}
	if a.regex {
		a.set("session-cookie-path", "/")
	}
}

func serviceUpstream(a *application) { a.set("service-upstream", "true") }
