package annotations

// Set is what the annotations of one ingress ask for.
type Set struct {
	Location

	Affinity      Affinity
	Aliases       []string // further names of the servers
	AuthTLS       AuthTLS
	Backend       Backend
	Canary        Canary
	CustomHeaders string // namespace/name of the ConfigMap; empty is none
	ProxySSL      ProxySSL
	Snippets      Snippets
	SSL           SSL
}

// Location is what annotations ask for each location of the ingress. The model's locations embed it,
// so templates read these fields: their names are ingress-nginx's.
type Location struct {
	// Denied says why requests get 503; nil if they do not.
	Denied *string

	Allowlist                   SourceRange
	BackendProtocol             string // HTTP, HTTPS, AUTO_HTTP, GRPC, GRPCS, FCGI
	BasicDigestAuth             BasicDigestAuth
	ClientBodyBufferSize        string // annotation or ConfigMap; empty is nginx's default
	ConfigurationSnippet        string
	Connection                  Connection
	CorsConfig                  CorsConfig
	CustomHTTPErrors            []int // statuses of pods that are intercepted
	Denylist                    SourceRange
	DisableProxyInterceptErrors bool
	EnableGlobalAuth            bool // ask the service of the ConfigMap's global-auth-url
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
	UsePortInRedirects          bool // name the port in redirects to HTTPS
	XForwardedPrefix            string
}

// families is the table: a line a file.
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
