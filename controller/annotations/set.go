package annotations

// Set is what the annotations of one ingress ask for, a field a family. Fields
// of a location have the names that ingress-nginx's template reads.
type Set struct {
	// Denied says why the locations answer 503; nil if they do not.
	Denied *string

	Affinity        Affinity
	Aliases         []string // further names of the servers
	Allowlist       SourceRange
	AuthTLS         AuthTLS
	Backend         Backend
	BackendProtocol string // HTTP, HTTPS, AUTO_HTTP, GRPC, GRPCS, FCGI
	BasicDigestAuth BasicDigestAuth
	Canary          Canary
	ClientBody      ClientBody
	Connection      Connection
	CorsConfig      CorsConfig
	CustomHeaders   string // namespace/name of the ConfigMap; empty is none
	CustomErrors    CustomErrors
	Denylist        SourceRange
	// EnableGlobalAuth has the ConfigMap's global-auth-url asked.
	EnableGlobalAuth bool
	ExternalAuth     ExternalAuth
	FastCGI          FastCGI
	HTTP2            HTTP2
	Logs             Logs
	Mirror           Mirror
	ModSecurity      ModSecurity
	Opentelemetry    Opentelemetry
	Proxy            Proxy
	ProxySSL         ProxySSL
	RateLimit        RateLimit
	Redirect         Redirect
	Rewrite          Rewrite
	Satisfy          string
	Snippets         Snippets
	SSL              SSL
	UpstreamVhost    string
	// UsePortInRedirects names the port in redirects to HTTPS.
	UsePortInRedirects bool
	XForwardedPrefix   string
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
