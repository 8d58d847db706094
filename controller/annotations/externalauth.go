package annotations

import (
	"strings"

	"windtunnel.dev/controller/options"
)

// ExternalAuth contains the options of authentication by an external service.
type ExternalAuth struct {
	URL                    string // empty: no external authentication
	Host                   string // host of URL, without the port
	SigninURL              string
	SigninURLRedirectParam string
	Method                 string
	ResponseHeaders        []string
	RequestRedirect        string
	AuthSnippet            string
	AuthCacheKey           string
	AuthCacheDuration      []string
	ProxySetHeaders        map[string]string // the contents of the ConfigMap ProxySetHeadersMap
	ProxySetHeadersMap     string            // namespace/name
	AlwaysSetCookie        bool
	KeepaliveConnections   int
	KeepaliveShareVars     bool
	KeepaliveRequests      int
	KeepaliveTimeout       int // seconds
}

const defaultCacheDuration = "200 202 401 5m"

var verb = Want{Text: "an HTTP method in capitals", ok: options.IsVerb}

var externalAuth = Family{
	Name: "external authentication",
	Keys: []Key{
		{Name: "auth-url", Doc: "URL of the service that authenticates each request; required by the other annotations of this group.", Risk: High, Scope: OfLocation, Want: URLVars, Bad: RejectsAll, Protects: externalAuthentication, TurnsOn: true},
		{Name: "auth-method", Doc: "HTTP method of the authentication request; default: GET.", Risk: Low, Scope: OfLocation, Want: verb, Bad: DeniesRequest, Protects: externalAuthentication},
		{Name: "auth-signin", Doc: "Where clients that are not authenticated are redirected.", Risk: High, Scope: OfLocation, Want: URLVars, Protects: externalAuthentication},
		{Name: "auth-signin-redirect-param", Doc: "Parameter of that URL that contains the requested URL.", Risk: Medium, Scope: OfLocation, Want: URL, Protects: externalAuthentication},
		{Name: "auth-response-headers", Doc: "Headers of the authentication response to send to pods.", Risk: Medium, Scope: OfLocation, Want: inOne(ListOf(Header)), Bad: DeniesRequest, Protects: externalAuthentication},
		{Name: "auth-proxy-set-headers", Doc: "ConfigMap ([namespace/]name) of headers to send to the service.", Risk: Medium, Scope: OfLocation, Want: Object, Bad: DeniesRequest, Protects: externalAuthentication},
		{Name: "auth-request-redirect", Doc: "Value of X-Auth-Request-Redirect for the service.", Risk: Medium, Scope: OfLocation, Want: URL, Bad: DeniesRequest, Protects: externalAuthentication},
		{Name: "auth-snippet", Doc: "Inserted into the location that sends the authentication request.", Risk: Critical, Scope: OfLocation, Want: Anything, Protects: externalAuthentication},
		{Name: "auth-cache-key", Doc: "Cache key of authentication responses.", Risk: Medium, Scope: OfLocation, Want: Variable, Protects: externalAuthentication},
		{Name: "auth-cache-duration", Doc: "How long authentication responses are cached, by status: 200 202 30m, 401 1m.", Risk: Medium, Scope: OfLocation, Want: Extended, Bad: DeniesRequest, Protects: externalAuthentication},
		{Name: "auth-keepalive", Doc: "Idle connections to the service per worker; not with HTTP/2 or a variable host.", Risk: Low, Scope: OfLocation, Want: Number, Protects: Harmless},
		{Name: "auth-keepalive-share-vars", Doc: "Share the client request's nginx variables with the authentication request.", Risk: Low, Scope: OfLocation, Want: Boolean, Protects: externalAuthentication},
		{Name: "auth-keepalive-requests", Doc: "Maximum number of requests per connection.", Risk: Low, Scope: OfLocation, Want: Positive, Protects: Harmless},
		{Name: "auth-keepalive-timeout", Doc: "Seconds a connection may be idle.", Risk: Low, Scope: OfLocation, Want: Natural, Protects: Harmless},
		{Name: "auth-always-set-cookie", Doc: "Send the cookies of the authentication response to the client, whatever its status.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: DeniesRequest, Protects: externalAuthentication},
	},
	parse: func(r *reader, set *Set) {
		url := r.text("auth-url", "")
		if url == "" {
			return
		}
		host, err := options.AuthHost(url)
		if err != nil {
			r.deny("auth-url", err.Error())
			return
		}
		if r.options.Ports.NamesProtected(url) {
			r.deny("auth-url", options.ProtectedReason)
			return
		}
		set.ExternalAuth = ExternalAuth{
			URL:                    options.WithPath(url),
			Host:                   host,
			SigninURL:              r.text("auth-signin", ""),
			SigninURLRedirectParam: r.text("auth-signin-redirect-param", "rd"),
			Method:                 r.text("auth-method", ""),
			ResponseHeaders:        r.list("auth-response-headers"),
			RequestRedirect:        r.text("auth-request-redirect", ""),
			AuthSnippet:            r.snippet("auth-snippet"),
			AuthCacheKey:           r.text("auth-cache-key", ""),
			AuthCacheDuration:      r.cacheDurations("auth-cache-duration"),
			ProxySetHeadersMap:     r.reference("auth-proxy-set-headers", false),
			AlwaysSetCookie:        r.flag("auth-always-set-cookie", false),
			KeepaliveConnections:   r.keepalive("auth-keepalive", host),
			KeepaliveShareVars:     r.flag("auth-keepalive-share-vars", false),
			KeepaliveRequests:      r.number("auth-keepalive-requests", 1000),
			KeepaliveTimeout:       r.number("auth-keepalive-timeout", 60),
		}
	},
}

// mostKeepalive limits idle connections, because nginx allocates all of them at startup.
const mostKeepalive = 1000

func (r *reader) cacheDurations(name string) []string {
	durations, err := options.CacheDurations(r.text(name, defaultCacheDuration))
	if err != nil {
		r.deny(name, err.Error())
	}
	return durations
}

// keepalive returns a number of idle connections. It returns 0 if the host contains a variable,
// because the server of an upstream block cannot be a variable.
func (r *reader) keepalive(name, host string) int {
	number := r.atMost(mostKeepalive, name, 0)
	switch {
	case number < 0:
		r.ignore(name, "want a number from 0")
	case number > 0 && strings.Contains(host, "$"):
		r.ignore(name, "the host of auth-url is a variable")
	default:
		return number
	}
	return 0
}
