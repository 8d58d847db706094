package quarantine

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/snapshot"
)

// protection is one way to restrict access to a location, or to control the traffic through it. In
// this respect, an earlier version of an ingress protects no less than the wanted one if both have
// the same values for all of its annotations, or if the wanted version does not turn the protection
// on.
type protection struct {
	name string
	keys []string // annotations, without the prefix
	// asks are the keys that turn the protection on. If empty, a version without any of the keys
	// may protect more or less than one with them.
	asks []string
	// opens means that the annotations widen access. Then the earlier version must not turn them
	// on.
	opens bool
	// inSnippet means that the values are snippets, in which only some directives protect.
	inSnippet bool
}

// protections are all protections that annotations can turn on. The grouping follows the annotation
// families of ingress-nginx.
var protections = []protection{
	{name: "external authentication", asks: []string{"auth-url"}, keys: []string{"auth-url", "auth-method", "auth-signin", "auth-signin-redirect-param", "auth-response-headers",
		"auth-proxy-set-headers", "auth-request-redirect", "auth-snippet", "auth-cache-key", "auth-cache-duration", "auth-always-set-cookie", "auth-keepalive-share-vars"}},
	{name: "passwords", asks: []string{"auth-type"}, keys: []string{"auth-type", "auth-secret", "auth-secret-type"}},
	{name: "client certificates", asks: []string{"auth-tls-secret"}, keys: []string{"auth-tls-secret", "auth-tls-verify-client", "auth-tls-verify-depth", "auth-tls-error-page",
		"auth-tls-pass-certificate-to-upstream", "auth-tls-match-cn"}},
	{name: "allow list", asks: []string{"allowlist-source-range", "whitelist-source-range"}, keys: []string{"allowlist-source-range", "whitelist-source-range"}},
	{name: "deny list", asks: []string{"denylist-source-range"}, keys: []string{"denylist-source-range"}},
	{name: "satisfy", keys: []string{"satisfy"}},
	{name: "global authentication", keys: []string{"enable-global-auth"}},
	{name: "ModSecurity", keys: []string{"enable-modsecurity", "enable-owasp-core-rules", "modsecurity-snippet"}},
	{name: "redirect to HTTPS", keys: []string{"ssl-redirect", "force-ssl-redirect"}},
	{name: "TLS", keys: []string{"ssl-ciphers", "ssl-prefer-server-ciphers", "ssl-passthrough"}},
	{name: "rate limits", asks: []string{"limit-connections", "limit-rps", "limit-rpm", "limit-rate"},
		keys: []string{"limit-connections", "limit-rps", "limit-rpm", "limit-burst-multiplier", "limit-rate", "limit-rate-after", "limit-allowlist", "limit-whitelist"}},
	{name: "intercepted errors", keys: []string{"custom-http-errors", "disable-proxy-intercept-errors"}},
	{name: "CORS", opens: true, asks: []string{"enable-cors"}, keys: []string{"enable-cors", "cors-allow-origin", "cors-allow-methods", "cors-allow-headers", "cors-expose-headers", "cors-allow-credentials"}},
	{name: "redirect", asks: []string{"temporal-redirect", "permanent-redirect"}, keys: []string{"temporal-redirect", "permanent-redirect"}},
	{name: "requests to pods", keys: []string{"rewrite-target", "use-regex", "upstream-vhost", "fastcgi-params-configmap", "backend-protocol"}},
	{name: "verification of pods", asks: []string{"proxy-ssl-secret"}, keys: []string{"proxy-ssl-secret", "proxy-ssl-ciphers", "proxy-ssl-protocols", "proxy-ssl-name", "proxy-ssl-verify",
		"proxy-ssl-verify-depth", "proxy-ssl-server-name"}},
	{name: "mirror", opens: true, asks: []string{"mirror-target"}, keys: []string{"mirror-target", "mirror-host", "mirror-request-body"}},
	{name: "canary", keys: []string{"canary", "canary-by-header", "canary-by-header-value", "canary-by-header-pattern", "canary-by-cookie"}},
	{name: "aliases", keys: []string{"server-alias"}},
	{name: "snippet of the location", keys: []string{"configuration-snippet"}, inSnippet: true},
	{name: "snippet of the server", keys: []string{"server-snippet"}, inSnippet: true},
	{name: "snippet of the stream block", keys: []string{"stream-snippet"}, inSnippet: true},
}

// harmless are the annotations that do not restrict access. An annotation in neither table counts
// as protecting.
var harmless = words(`
	affinity affinity-mode affinity-canary-behavior session-cookie-name session-cookie-expires session-cookie-max-age session-cookie-path
	session-cookie-domain session-cookie-samesite session-cookie-secure session-cookie-conditional-samesite-none session-cookie-change-on-failure
	load-balance upstream-hash-by upstream-hash-by-subset upstream-hash-by-subset-size service-upstream default-backend
	auth-realm auth-keepalive auth-keepalive-requests auth-keepalive-timeout cors-max-age
	canary-weight canary-weight-total client-body-buffer-size connection-proxy-header custom-headers fastcgi-index http2-push-preload
	enable-access-log enable-rewrite-log modsecurity-transaction-id
	enable-opentelemetry opentelemetry-trust-incoming-span opentelemetry-operation-name
	proxy-connect-timeout proxy-read-timeout proxy-send-timeout proxy-body-size proxy-buffering proxy-buffers-number proxy-buffer-size
	proxy-busy-buffers-size proxy-max-temp-file-size proxy-request-buffering proxy-http-version proxy-cookie-domain proxy-cookie-path
	proxy-next-upstream proxy-next-upstream-timeout proxy-next-upstream-tries proxy-redirect-from proxy-redirect-to
	temporal-redirect-code permanent-redirect-code relative-redirects from-to-www-redirect app-root
	use-port-in-redirects preserve-trailing-slash x-forwarded-prefix`)

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// reader reads the annotations with the controller's prefix.
type reader struct{ prefix string }

func newReader(prefix string) reader {
	return reader{cmp.Or(prefix, annotations.DefaultPrefix) + "/"}
}

func (r reader) value(ingress *networkingv1.Ingress, key string) string {
	return strings.TrimSpace(ingress.Annotations[r.prefix+key])
}

func (r reader) asks(ingress *networkingv1.Ingress, keys []string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return r.value(ingress, key) != "" })
}

// weaker returns the names of the protections in which an earlier version of an ingress is, or may
// be, weaker than the wanted one. It returns nil if the earlier version protects no less.
func (r reader) weaker(earlier, wanted *networkingv1.Ingress) []string {
	var ways []string
	for _, p := range protections {
		if r.lacks(earlier, wanted, p) {
			ways = append(ways, p.name)
		}
	}
	for _, key := range r.unknown(earlier, wanted) {
		if r.value(earlier, key) != r.value(wanted, key) {
			ways = append(ways, "annotation "+key)
		}
	}
	if !covers(hostsOfTLS(earlier), hostsOfTLS(wanted)) {
		ways = append(ways, "spec.tls")
	}
	return ways
}

func (r reader) lacks(earlier, wanted *networkingv1.Ingress, p protection) bool {
	if p.inSnippet {
		return slices.ContainsFunc(p.keys, func(key string) bool { return snippetLacks(r.value(earlier, key), r.value(wanted, key)) })
	}
	if !slices.ContainsFunc(p.keys, func(key string) bool { return r.value(earlier, key) != r.value(wanted, key) }) {
		return false
	}
	asking := wanted
	if p.opens {
		asking = earlier
	}
	return p.asks == nil || r.asks(asking, p.asks)
}

// known are the annotations in the tables.
var known = func() map[string]bool {
	all := maps.Clone(harmless)
	for _, p := range protections {
		for _, key := range p.keys {
			all[key] = true
		}
	}
	return all
}()

// unknown returns the annotations with the controller's prefix that are in neither table, sorted.
func (r reader) unknown(versions ...*networkingv1.Ingress) []string {
	var keys []string
	for _, version := range versions {
		for name := range version.Annotations {
			if key, ours := strings.CutPrefix(name, r.prefix); ours && !known[key] {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// hostsOfTLS returns the hosts in spec.tls of an ingress. With a certificate, they redirect to
// HTTPS. An entry without hosts applies to all hosts.
func hostsOfTLS(ingress *networkingv1.Ingress) map[string]bool {
	hosts := make(map[string]bool)
	for _, entry := range ingress.Spec.TLS {
		for _, host := range entry.Hosts {
			hosts[host] = true
		}
		if len(entry.Hosts) == 0 {
			hosts[""] = true
		}
	}
	return hosts
}

func covers(all, wanted map[string]bool) bool {
	for one := range wanted {
		if !all[one] {
			return false
		}
	}
	return true
}

func (r reader) isCanary(ingress *networkingv1.Ingress) bool {
	return annotations.Says(r.value(ingress, "canary"))
}

// closureOf returns a Closure of everything that a version of an ingress serves.
func (r reader) closureOf(wanted *networkingv1.Ingress, reason string) snapshot.Closure {
	return snapshot.Closure{
		Reason:             reason,
		ClientCertificates: r.value(wanted, "auth-tls-secret") != "",
		ServerSnippet:      snippetLacks("", r.value(wanted, "server-snippet")),
	}
}
