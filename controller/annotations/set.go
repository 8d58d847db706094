package annotations

// Set contains the parsed annotations of one ingress.
type Set struct {
	Location

	Affinity      Affinity
	Aliases       []string // additional names of the servers
	AuthTLS       AuthTLS
	Backend       Backend
	Canary        Canary
	CustomHeaders string // namespace/name of the ConfigMap; empty: none
	ProxySSL      ProxySSL
	Snippets      Snippets
	SSL           SSL
}

// Location contains the options for each location of the ingress. The model's locations embed it,
// so templates read these fields: their names are those of ingress-nginx.
type Location struct {
	// Denied is the reason why requests get 503; nil if they are not denied.
	Denied *string

	Allowlist                   SourceRange
	BackendProtocol             string // HTTP, HTTPS, AUTO_HTTP, GRPC, GRPCS, FCGI
	BasicDigestAuth             BasicDigestAuth
	ClientBodyBufferSize        string // from the annotation or the ConfigMap; empty: nginx's default
	ConfigurationSnippet        string
	Connection                  Connection
	CorsConfig                  CorsConfig
	CustomHTTPErrors            []int // status codes of pods to intercept
	Denylist                    SourceRange
	DisableProxyInterceptErrors bool
	EnableGlobalAuth            bool // use the ConfigMap's global-auth-url
	ExternalAuth                ExternalAuth
	FastCGI                     FastCGI
	HTTP2PushPreload            bool // obsolete in nginx since 1.25.1
	Logs                        Logs
	Mirror                      Mirror
	ModSecurity                 ModSecurity
	Opentelemetry               Opentelemetry
	Proxy                       Proxy
	RateLimit                   RateLimit
	Redirect                    Redirect
	Rewrite                     Rewrite
	Satisfy                     string
	UpstreamVhost               string
	UsePortInRedirects          bool // include the port in redirects to HTTPS
	XForwardedPrefix            string
}

// families is the table of families, one line per file.
var families = []Family{
	affinity,
	aliases,
	authTLS,
	backend,
	basicDigestAuth,
	canary,
	clientBody,
	connection,
	cors,
	customErrors,
	customHeaders,
	externalAuth,
	fastCGI,
	globalAuth,
	http2,
	logs,
	mirror,
	modSecurity,
	opentelemetry,
	protocol,
	proxy,
	proxySSL,
	rateLimit,
	redirect,
	rewrite,
	satisfy,
	snippets,
	sourceRange,
	ssl,
	vhost,
}
