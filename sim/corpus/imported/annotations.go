package imported

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/sim/corpus/dump"
)

// annotations are an ingress's annotations for ingress-nginx, without their prefix.
type annotations map[string]string

func annotationsOf(ingress *networkingv1.Ingress) annotations {
	own := annotations{}
	for full, value := range ingress.Annotations {
		if name, ours := strings.CutPrefix(full, dump.DefaultPrefix+"/"); ours && value != "" {
			own[name] = strings.TrimSpace(value)
		}
	}
	return own
}

func (a annotations) on(name string) bool      { return a[name] == "true" }
func (a annotations) has(name string) bool     { return a[name] != "" }
func (a annotations) value(name string) string { return a[name] }

// plain are the annotations with which a pod answers every lane with 200, whatever their values.
var plain = []string{
	// for the connection to the pod, its timeouts and its buffers
	"proxy-body-size", "proxy-connect-timeout", "proxy-read-timeout", "proxy-send-timeout", "proxy-buffering", "proxy-buffers-number",
	"proxy-buffer-size", "proxy-busy-buffers-size", "proxy-max-temp-file-size", "proxy-request-buffering", "client-body-buffer-size",
	"proxy-next-upstream", "proxy-next-upstream-timeout", "proxy-next-upstream-tries",
	"proxy-ssl-name", "proxy-ssl-server-name", "proxy-ssl-secret", "proxy-ssl-verify", "proxy-ssl-verify-depth", "proxy-ssl-protocols", "proxy-ssl-ciphers",
	// for headers
	"enable-cors", "cors-allow-origin", "cors-allow-methods", "cors-allow-headers", "cors-expose-headers", "cors-allow-credentials", "cors-max-age",
	"x-forwarded-prefix", "upstream-vhost", "proxy-cookie-domain", "proxy-cookie-path", "proxy-redirect-from", "proxy-redirect-to",
	// for choosing pods by a cookie, which the requests do not have
	"affinity", "affinity-mode", "affinity-canary-behavior", "session-cookie-name", "session-cookie-expires", "session-cookie-max-age", "session-cookie-path",
	"session-cookie-domain", "session-cookie-samesite", "session-cookie-secure", "session-cookie-conditional-samesite-none", "session-cookie-change-on-failure",
	// for errors and logs
	"custom-http-errors", "default-backend", "disable-proxy-intercept-errors", "enable-access-log", "enable-rewrite-log",
	// for other hosts and paths
	"server-alias", "from-to-www-redirect", "rewrite-target", "use-regex", "app-root",
	// for TLS: requests to a host with a certificate use HTTPS
	"ssl-redirect", "force-ssl-redirect", "preserve-trailing-slash", "use-port-in-redirects", "ssl-ciphers", "ssl-prefer-server-ciphers",
	"http2-push-preload",
}

// plainValues are annotations with which a pod answers with 200 only if they have one of these values.
var plainValues = map[string][]string{
	"backend-protocol":   {"HTTP"},
	"load-balance":       {"round_robin", "ewma"},
	"canary":             {"false"},
	"service-upstream":   {"false"},
	"enable-global-auth": {"false"},
	"ssl-passthrough":    {"false"},
	"enable-modsecurity": {"false"},
}

// leading are annotations on which the effect of others depends, so they are reported first as the
// reason.
var leading = []string{"auth-url", "auth-type", "limit-rps", "limit-rpm", "limit-connections", "mirror-target"}

// unplain returns why pods may not answer with 200 at the paths of an ingress, or "" if they do.
func (a annotations) unplain() string {
	for _, name := range slices.Concat(leading, slices.Sorted(maps.Keys(a))) {
		switch {
		case !a.has(name):
		case slices.Contains(plain, name), slices.Contains(plainValues[name], a[name]):
		case strings.HasPrefix(name, "canary-"): // of an ingress that is not a canary
		case name == "configuration-snippet", name == "server-snippet":
			if !harmless(a[name]) {
				return "a path with the annotation " + name + ", whose directives may answer"
			}
		default:
			return "a path with the annotation " + name
		}
	}
	return ""
}

// ofHost returns why pods may not answer with 200 at any path of the ingress's hosts, or "" if they
// do.
func (a annotations) ofHost(snippets bool) string {
	switch {
	case !snippets && (a.has("configuration-snippet") || a.has("server-snippet")):
		return "a path of a host with snippets, which need allow-snippet-annotations: true and annotations-risk-level: Critical in the scenario's config"
	case a.has("auth-tls-secret"):
		return "a path of a host with the annotation auth-tls-secret"
	case a.has("server-snippet") && !harmless(a["server-snippet"]):
		return "a path of a host with the annotation server-snippet, whose directives may answer"
	case a.on("ssl-passthrough"):
		return "a path of a host with the annotation ssl-passthrough"
	}
	return ""
}

// ofHeaders are directives of nginx that change headers only, and a few that change sizes and times.
var ofHeaders = []string{
	"add_header", "more_set_headers", "more_clear_headers", "proxy_set_header", "proxy_hide_header", "proxy_pass_header", "expires", "etag",
	"gzip", "gzip_types", "gzip_min_length", "client_max_body_size", "proxy_buffering", "proxy_buffer_size", "proxy_buffers", "proxy_read_timeout",
	"proxy_send_timeout", "proxy_connect_timeout", "proxy_cookie_path", "proxy_cookie_domain", "access_log", "charset", "set",
}

var (
	comment   = regexp.MustCompile(`(?m)(^|\s)#.*$`)
	quoted    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)
	directive = regexp.MustCompile(`^\s*([a-z0-9_]+)\s`)
)

// harmless reports whether a snippet has directives of ofHeaders only.
func harmless(snippet string) bool {
	text := quoted.ReplaceAllString(snippet, "x")
	text = comment.ReplaceAllString(text, "")
	if strings.ContainsAny(text, `{}"'`) {
		return false
	}
	statements := strings.Split(text, ";")
	last := len(statements) - 1
	if strings.TrimSpace(statements[last]) != "" {
		return false
	}
	for _, statement := range statements[:last] {
		name := directive.FindStringSubmatch(statement)
		if name == nil || !slices.Contains(ofHeaders, name[1]) {
			return false
		}
	}
	return true
}
