package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"windtunnel.dev/internal/golden"
)

// interactions are settings and circumstances that change each other's effect, as ingress-nginx
// documents them or its users meet them, and the cases that show how.
var interactions = []struct {
	of    string
	pairs []interaction
}{
	{"Redirects to HTTPS", []interaction{
		{"`ssl-redirect` and `force-ssl-redirect`", "redirects/ssl-and-force"},
		{"`ssl-redirect` and TLS", "redirects/ssl-redirect redirects/ssl-redirect-without-tls redirects/ssl-redirect-default-certificate redirects/alias-and-certificate"},
		{"`ssl-redirect` and `X-Forwarded-Proto`", "redirects/forwarded-proto redirects/forwarded-proto-untrusted"},
		{"`force-ssl-redirect` and other paths of the host", "redirects/force-ssl-redirect redirects/force-ssl-redirect-everywhere"},
		{"`force-ssl-redirect` and `from-to-www-redirect`", "redirects/from-to-www-and-force"},
		{"`force-ssl-redirect` and the PROXY protocol", "redirects/proxy-protocol"},
		{"`from-to-www-redirect` and TLS", "redirects/from-to-www-tls redirects/from-to-www-certificate"},
		{"`from-to-www-redirect` and forwarded headers", "redirects/from-to-www-forwarded"},
	}},
	{"Several redirects", []interaction{
		{"`app-root`, `permanent-redirect` and `force-ssl-redirect`", "redirects/app-root-and-redirect"},
		{"`permanent-redirect` and redirects to HTTPS", "redirects/redirect-before-https"},
		{"`permanent-redirect` and `temporal-redirect`", "redirects/temporal-before-permanent"},
		{"redirects and FastCGI", "redirects/fastcgi"},
		{"redirects and `custom-http-errors` of the ConfigMap", "errors/redirects-of-config"},
		{"redirects and custom headers", "redirects/redirect-with-headers"},
		{"redirects, refusals and `hsts`", "http/hsts-of-nginx"},
	}},
	{"Paths", []interaction{
		{"`rewrite-target` and `use-regex`", "routing/use-regex-of-host routing/rewrite-of-host routing/regex-and-exact-across-ingresses"},
		{"`rewrite-target` and path types", "routing/rewrite-path-types routing/rewrite-without-groups"},
		{"`use-regex` and path types", "routing/use-regex routing/regex-order"},
		{"path types", "routing/exact-and-prefix routing/implementation-specific"},
		{"`rewrite-target` and `auth-url`", "auth/url-rewrite"},
		{"`rewrite-target` and CORS", "cors/rewrite"},
		{"`rewrite-target` and `custom-http-errors`", "errors/rewrite"},
		{"`rewrite-target` and canaries", "canary/rewrite"},
		{"`rewrite-target` and FastCGI, gRPC", "backends/fastcgi-rewrite backends/grpc-rewrite"},
	}},
	{"Canaries", []interaction{
		{"canaries and `affinity`", "sessions/canary-header sessions/canary-own-cookie"},
		{"canaries, `affinity` and `server-alias`", "canary/alias canary/alias-and-affinity"},
		{"canaries and authentication", "auth/basic-canary auth/basic-of-canary auth/url-canary auth/tls-canary"},
		{"canaries and CORS", "cors/canary"},
		{"canaries and error pages", "canary/custom-errors errors/canary"},
		{"canaries and missing endpoints", "canary/no-endpoints canary/stable-without-endpoints"},
		{"canaries and other annotations of their own", "canary/own-annotations canary/snippet"},
		{"canaries and backend protocols", "canary/grpc canary/websocket"},
		{"canaries of several paths and hosts", "canary/scope-of-rules"},
		{"ways to choose a canary", "canary/precedence canary/header-value-and-pattern"},
	}},
	{"Authentication", []interaction{
		{"`auth-url` and `auth-type`", "auth/url-and-password"},
		{"authentication and CORS", "cors/auth-url cors/auth-signin cors/password cors/client-certificate"},
		{"authentication and `custom-http-errors`", "auth/basic-custom-error auth/url-custom-error auth/url-config-custom-errors auth/tls-error-page"},
		{"authentication, CORS and `custom-http-errors`", "cors/auth-custom-error"},
		{"authentication and redirects", "auth/basic-after-redirect auth/url-after-redirect auth/basic-after-https auth/url-ssl-redirect"},
		{"authentication and `app-root`", "auth/basic-after-app-root auth/url-after-app-root"},
		{"authentication and FastCGI, gRPC", "auth/basic-fastcgi auth/url-fastcgi auth/fastcgi-response-headers auth/basic-grpc auth/url-grpc"},
		{"authentication and lists of addresses", "auth/url-allowlist auth/satisfy-all auth/satisfy-any auth/satisfy-any-denylist"},
		{"`auth-url` and the ConfigMap's `global-auth-url`", "auth/global-own-url auth/global-off-own-url"},
		{"`auth-tls-secret` and `auth-url`", "auth/tls-auth-url auth/tls-auth-url-certificate"},
		{"`auth-tls-secret` and several ingresses of a host", "auth/tls-two-ingresses auth/tls-scope"},
		{"passwords and missing endpoints", "errors/no-endpoints-password"},
	}},
	{"CORS", []interaction{
		{"CORS and redirects", "redirects/redirect-with-cors cors/ssl-redirect"},
		{"CORS and `app-root`", "cors/app-root"},
		{"CORS and `custom-http-errors`", "cors/custom-error cors/pod-error"},
		{"CORS and lists of addresses", "cors/allowlist"},
		{"CORS and limits", "cors/limit"},
		{"CORS and FastCGI", "cors/fastcgi cors/fastcgi-password"},
		{"CORS and headers of pods", "cors/pod-headers cors/pod-headers-other-origin"},
		{"CORS and missing endpoints", "cors/no-pods"},
	}},
	{"Snippets", []interaction{
		{"snippets of ingresses and of the ConfigMap", "http/snippet-order"},
		{"`configuration-snippet` and access", "http/snippet-before-access"},
		{"`configuration-snippet` and redirects", "redirects/redirect-with-headers"},
		{"`configuration-snippet` and CORS", "cors/snippet"},
		{"`configuration-snippet` and `custom-http-errors`", "errors/snippet"},
		{"`configuration-snippet` and canaries", "canary/snippet"},
		{"`auth-snippet` and `allow-snippet-annotations`", "auth/snippet auth/snippet-off"},
		{"`modsecurity-snippet` and the ConfigMap", "modsecurity/config-and-snippet"},
		{"snippets and `annotations-risk-level`", "auth/risk-default auth/risk-earlier-version"},
	}},
	{"Errors and default backends", []interaction{
		{"`default-backend` and `custom-http-errors`", "errors/custom-http-errors errors/without-default-backend"},
		{"`default-backend` and missing endpoints", "errors/no-endpoints errors/no-endpoints-other"},
		{"`custom-http-errors` and what nginx refuses itself", "errors/of-nginx"},
		{"`custom-http-errors` and FastCGI, gRPC, TLS to pods", "errors/fastcgi errors/grpc-pod-fails errors/https-pods"},
		{"`default-backend` and the default backend of the spec", "errors/spec-default-backend errors/spec-default-backend-oldest"},
		{"`default-backend` and `affinity`", "sessions/default-backend"},
	}},
	{"Addresses of clients", []interaction{
		{"allowlist and denylist", "access/blocks-and-lists access/lists-of-paths access/lists-of-config"},
		{"lists and the PROXY protocol", "access/proxy-protocol proxy/proxy-protocol-lists proxy/proxy-protocol-and-lists"},
		{"lists and forwarded headers", "access/allowlist-forwarded access/both-lists-forwarded"},
		{"lists and redirects", "access/allowlist-and-redirects"},
		{"the PROXY protocol and forwarded headers", "proxy/proxy-protocol-and-forwarded"},
		{"limits and `limit-whitelist`", "access/limit-whitelist"},
		{"limits and authentication", "access/limit-and-password access/limit-and-auth-url"},
		{"limits and forwarded headers", "access/limit-forwarded"},
	}},
	{"Protocols of pods", []interaction{
		{"`backend-protocol` and `proxy-ssl-secret`", "backends/proxy-ssl-secret backends/proxy-ssl-name"},
		{"`backend-protocol: GRPCS` and verification", "backends/grpcs backends/grpcs-verify"},
		{"changes of `backend-protocol`", "backends/protocol-change backends/http-to-https backends/https-to-http"},
		{"`upstream-hash-by` and `affinity`", "backends/hash-and-affinity"},
		{"`affinity` and several ingresses of a service", "sessions/two-hosts sessions/two-hosts-all-values proxy/scope-of-retries"},
		{"`proxy-request-buffering` and `proxy-next-upstream`", "proxy/retry-without-buffering"},
	}},
	{"Mirrors", []interaction{
		{"`mirror-target` and what nginx refuses itself", "mirror/refused"},
		{"`mirror-target` and canaries", "mirror/canary"},
		{"`mirror-target` and redirects", "mirror/redirect"},
		{"`mirror-target` and `rewrite-target`", "mirror/rewrite"},
	}},
}

type interaction struct {
	between string
	cases   string // names, with spaces between them
}

func TestInteractionsPage(t *testing.T) {
	cases := readCovered(t).named
	var page strings.Builder
	page.WriteString(`# How settings interact

This page lists settings that change each other's effect, with the [behaviour cases](cases.md) that
show what ingress-nginx does. [covered.md](covered.md) lists the cases of each setting alone.

*A test writes this page.*
`)
	for _, group := range interactions {
		fmt.Fprintf(&page, "\n## %s\n\n| between | what happens |\n|---|---|\n", group.of)
		for _, pair := range group.pairs {
			var lines []string
			for _, name := range strings.Fields(pair.cases) {
				c := cases[name]
				if c == nil {
					t.Errorf("%s: there is no case %s", pair.between, name)
					continue
				}
				lines = append(lines, fmt.Sprintf("%s ([%s](../cases/%s.yaml))", cell(c.Summary), name, name))
			}
			fmt.Fprintf(&page, "| %s | %s |\n", pair.between, strings.Join(lines, "<br>"))
		}
	}
	golden.Check(t, "interactions.md", []byte(page.String()))
}
