package options

// Config contains the values of the controller's ConfigMap. It is also the table of keys, one field
// per key. The tags of a field are the key, what it protects (see Protection), its default, the
// kind of value if the Go type does not determine it (see kinds), the range of a number, the
// choices, and a description. Keys and defaults are those of ingress-nginx; field names are those
// that its template reads (.Cfg).
type Config struct {
	// Processes and connections.
	WorkerProcesses       string   `key:"worker-processes" protects:"no" kind:"workers" default:"auto" doc:"Number of worker processes; auto: one per CPU."`
	WorkerCPUAffinity     string   `key:"worker-cpu-affinity" protects:"no" kind:"cpus" default:"" doc:"Binds workers to CPUs (worker_cpu_affinity)."`
	WorkerShutdownTimeout string   `key:"worker-shutdown-timeout" protects:"no" kind:"time" default:"240s" doc:"How long an old worker may finish its connections after a reload."`
	MaxWorkerConnections  int      `key:"max-worker-connections" protects:"no" max:"1048576" default:"16384" doc:"Connections per worker; 0: three quarters of max-worker-open-files."`
	MaxWorkerOpenFiles    int      `key:"max-worker-open-files" protects:"no" max:"1073741824" default:"0" doc:"Open files per worker; 0: the hard limit minus 1024."`
	EnableMultiAccept     bool     `key:"enable-multi-accept" protects:"no" default:"true" doc:"A worker accepts all waiting connections at once."`
	EnableAioWrite        bool     `key:"enable-aio-write" protects:"no" default:"true" doc:"Write files in threads (aio_write)."`
	BindAddress           []string `key:"bind-address" protects:"yes" kind:"ip" default:"" doc:"Addresses to listen on; empty: all."`
	ReusePort             bool     `key:"reuse-port" protects:"no" default:"true" doc:"Each worker has its own listening socket (SO_REUSEPORT)."`
	DisableIpv6           bool     `key:"disable-ipv6" protects:"no" default:"false" doc:"Do not listen on IPv6."`
	DisableIpv6DNS        bool     `key:"disable-ipv6-dns" protects:"no" default:"false" doc:"Do not query DNS for IPv6 addresses."`
	DebugConnections      []string `key:"debug-connections" protects:"no" kind:"cidr" default:"" doc:"Clients whose connections are logged at debug level (debug_connection)."`
	EnableSerialReloads   bool     `key:"enable-serial-reloads" protects:"no" default:"false" doc:"Reload only after the workers of the previous reload have ended."`

	// Clients.
	KeepAlive                  int    `key:"keep-alive" protects:"no" default:"75" doc:"Seconds an idle client connection stays open; 0 disables keep-alive."`
	KeepAliveRequests          int    `key:"keep-alive-requests" protects:"no" default:"1000" doc:"Maximum number of requests per client connection."`
	ClientHeaderBufferSize     string `key:"client-header-buffer-size" protects:"no" most:"1m" kind:"bytes" default:"1k" doc:"Size of the buffer for request headers."`
	ClientHeaderTimeout        int    `key:"client-header-timeout" protects:"no" default:"60" doc:"Seconds a client may take to send its headers."`
	ClientBodyBufferSize       string `key:"client-body-buffer-size" protects:"no" most:"128m" kind:"bytes" default:"8k" doc:"Larger bodies are written to a file."`
	ClientBodyTimeout          int    `key:"client-body-timeout" protects:"no" default:"60" doc:"Seconds between two reads of a request body."`
	LargeClientHeaderBuffers   string `key:"large-client-header-buffers" protects:"no" kind:"buffers" default:"4 8k" doc:"Number and size of the buffers for large headers."`
	IgnoreInvalidHeaders       bool   `key:"ignore-invalid-headers" protects:"yes" default:"true" doc:"Drop header fields with invalid names."`
	EnableUnderscoresInHeaders bool   `key:"enable-underscores-in-headers" protects:"yes" default:"false" doc:"Allow underscores in header names."`
	UseHTTP2                   bool   `key:"use-http2" protects:"no" default:"true" doc:"Enable HTTP/2 on TLS listeners."`
	HTTP2MaxConcurrentStreams  int    `key:"http2-max-concurrent-streams" protects:"no" min:"1" max:"65536" default:"128" doc:"Concurrent streams per connection."`
	HTTP2MaxFieldSize          string `key:"http2-max-field-size" protects:"no" most:"1m" kind:"size" default:"" doc:"http2_max_field_size; obsolete in nginx since 1.19.7."`
	HTTP2MaxHeaderSize         string `key:"http2-max-header-size" protects:"no" most:"1m" kind:"size" default:"" doc:"http2_max_header_size; obsolete in nginx since 1.19.7."`
	HTTP2MaxRequests           int    `key:"http2-max-requests" protects:"no" default:"0" doc:"http2_max_requests; obsolete in nginx since 1.19.7."`
	GRPCBufferSizeKb           int    `key:"grpc-buffer-size-kb" protects:"no" max:"16384" default:"0" doc:"Size of the buffer for responses of gRPC pods, in KB; 0: nginx's default."`
	ShowServerTokens           bool   `key:"server-tokens" protects:"no" default:"false" doc:"Send the header Server. It is removed if nginx has the module headers-more; otherwise it has no version."`
	DefaultType                string `key:"default-type" protects:"no" kind:"word" default:"text/html" doc:"MIME type of responses without one."`
	GenerateRequestID          bool   `key:"generate-request-id" protects:"no" default:"true" doc:"Add an X-Request-ID to requests without one."`
	RelativeRedirects          bool   `key:"relative-redirects" protects:"no" default:"false" doc:"Send redirects of nginx without scheme and host."`

	// Hash tables.
	MapHashBucketSize          int `key:"map-hash-bucket-size" protects:"no" min:"1" max:"65472" default:"64" doc:"map_hash_bucket_size."`
	ServerNameHashMaxSize      int `key:"server-name-hash-max-size" protects:"no" max:"1048576" min:"1" default:"1024" doc:"Minimum of server_names_hash_max_size; increased if the hosts need it."`
	ServerNameHashBucketSize   int `key:"server-name-hash-bucket-size" protects:"no" max:"65472" default:"0" doc:"Minimum of server_names_hash_bucket_size; increased if the hosts need it."`
	ProxyHeadersHashMaxSize    int `key:"proxy-headers-hash-max-size" protects:"no" max:"1048576" min:"1" default:"512" doc:"proxy_headers_hash_max_size."`
	ProxyHeadersHashBucketSize int `key:"proxy-headers-hash-bucket-size" protects:"no" min:"1" max:"65472" default:"64" doc:"proxy_headers_hash_bucket_size."`
	VariablesHashBucketSize    int `key:"variables-hash-bucket-size" protects:"no" min:"1" max:"65472" default:"256" doc:"variables_hash_bucket_size."`
	VariablesHashMaxSize       int `key:"variables-hash-max-size" protects:"no" max:"1048576" min:"1" default:"2048" doc:"variables_hash_max_size."`

	// Logs.
	AccessLogPath                    string   `key:"access-log-path" protects:"no" kind:"word" default:"/var/log/nginx/access.log" doc:"Path of the access log."`
	HTTPAccessLogPath                string   `key:"http-access-log-path" protects:"no" kind:"word" default:"" doc:"Overrides access-log-path for HTTP."`
	AccessLogParams                  string   `key:"access-log-params" protects:"no" kind:"logparams" default:"" doc:"Additional parameters of access_log, such as buffer=16k."`
	DisableAccessLog                 bool     `key:"disable-access-log" protects:"no" default:"false" doc:"Disable all access logs."`
	DisableHTTPAccessLog             bool     `key:"disable-http-access-log" protects:"no" default:"false" doc:"Disable the access log of HTTP."`
	EnableAuthAccessLog              bool     `key:"enable-auth-access-log" protects:"no" default:"false" doc:"Log the requests of external authentication."`
	EnableAccessLogForDefaultBackend bool     `key:"enable-access-log-for-default-backend" protects:"no" default:"false" doc:"Log requests that no ingress matches."`
	SkipAccessLogURLs                []string `key:"skip-access-log-urls" protects:"no" kind:"mapkey" default:"" doc:"Request URIs that are not logged; ~ or ~* starts a regular expression."`
	ErrorLogPath                     string   `key:"error-log-path" protects:"no" kind:"word" default:"/var/log/nginx/error.log" doc:"Path of the error log."`
	ErrorLogLevel                    string   `key:"error-log-level" protects:"no" one:"debug info notice warn error crit alert emerg" default:"notice" doc:"Minimum severity of log entries."`
	LogFormatEscapeJSON              bool     `key:"log-format-escape-json" protects:"no" default:"false" doc:"Escape values for JSON."`
	LogFormatEscapeNone              bool     `key:"log-format-escape-none" protects:"no" default:"false" doc:"Do not escape values."`
	LogFormatUpstream                string   `key:"log-format-upstream" protects:"no" kind:"quoted" default:"$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id" doc:"Format of the access log."`
	EnableSyslog                     bool     `key:"enable-syslog" protects:"no" default:"false" doc:"Log to syslog instead of files."`
	SyslogHost                       string   `key:"syslog-host" protects:"no" kind:"host" default:"" doc:"Host of the syslog server."`
	SyslogPort                       int      `key:"syslog-port" protects:"no" min:"1" max:"65535" default:"514" doc:"UDP port of the syslog server."`

	// Compression.
	UseGzip         bool   `key:"use-gzip" protects:"no" default:"false" doc:"Compress responses with gzip."`
	GzipLevel       int    `key:"gzip-level" protects:"no" min:"1" max:"9" default:"1" doc:"Compression level."`
	GzipMinLength   int    `key:"gzip-min-length" protects:"no" default:"256" doc:"Minimum length of compressed responses, in bytes."`
	GzipDisable     string `key:"gzip-disable" protects:"no" kind:"regex" default:"" doc:"User agents whose responses are not compressed."`
	GzipTypes       string `key:"gzip-types" protects:"no" kind:"words" default:"application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component" doc:"MIME types compressed besides text/html."`
	EnableBrotli    bool   `key:"enable-brotli" protects:"no" default:"false" doc:"Compress responses with Brotli."`
	BrotliLevel     int    `key:"brotli-level" protects:"no" max:"11" default:"4" doc:"Compression level."`
	BrotliMinLength int    `key:"brotli-min-length" protects:"no" default:"20" doc:"Minimum length of compressed responses, in bytes."`
	BrotliTypes     string `key:"brotli-types" protects:"no" kind:"words" default:"application/xml+rss application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component" doc:"MIME types compressed besides text/html."`

	// TLS.
	SSLProtocols           string   `key:"ssl-protocols" protects:"yes" kind:"protocols" default:"TLSv1.2 TLSv1.3" doc:"TLS versions."`
	SSLCiphers             string   `key:"ssl-ciphers" protects:"yes" kind:"ciphers" default:"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256" doc:"Cipher suites up to TLS 1.2."`
	SSLECDHCurve           string   `key:"ssl-ecdh-curve" protects:"yes" kind:"curves" default:"auto" doc:"Curves for ECDHE."`
	SSLBufferSize          string   `key:"ssl-buffer-size" protects:"no" least:"1" most:"1m" kind:"bytes" default:"4k" doc:"Size of a TLS record."`
	SSLSessionCache        bool     `key:"ssl-session-cache" protects:"no" default:"true" doc:"Share a session cache among workers."`
	SSLSessionCacheSize    string   `key:"ssl-session-cache-size" protects:"no" least:"64k" most:"4096m" kind:"bytes" default:"10m" doc:"Size of the session cache."`
	SSLSessionTickets      bool     `key:"ssl-session-tickets" protects:"yes" default:"false" doc:"Resume sessions with tickets."`
	SSLSessionTimeout      string   `key:"ssl-session-timeout" protects:"no" kind:"wholetime" default:"10m" doc:"How long a session can be resumed."`
	SSLSessionTicketKey    string   `key:"ssl-session-ticket-key" protects:"yes" kind:"ticketkey" default:"" doc:"Ticket key, 48 or 80 bytes in base64; empty: nginx generates one at each start."`
	SSLDHParam             string   `key:"ssl-dh-param" protects:"yes" kind:"object" default:"" doc:"Secret (namespace/name) whose dhparam.pem is used for DHE."`
	SSLEarlyData           bool     `key:"ssl-early-data" protects:"yes" default:"false" doc:"Accept TLS 1.3 early data (0-RTT)."`
	SSLRejectHandshake     bool     `key:"ssl-reject-handshake" protects:"yes" default:"false" doc:"Reject TLS handshakes for hosts without an ingress."`
	EnableOCSP             bool     `key:"enable-ocsp" protects:"yes" default:"false" doc:"Staple OCSP responses."`
	ProxySSLLocationOnly   bool     `key:"proxy-ssl-location-only" protects:"yes" default:"false" doc:"The annotations proxy-ssl-* apply to locations only, not to servers."`
	SSLRedirect            bool     `key:"ssl-redirect" protects:"yes" default:"true" doc:"Redirect HTTP to HTTPS on hosts with a certificate."`
	ForceSSLRedirect       bool     `key:"force-ssl-redirect" protects:"yes" default:"false" doc:"Redirect HTTP to HTTPS on every host."`
	PreserveTrailingSlash  bool     `key:"preserve-trailing-slash" protects:"no" default:"false" doc:"Keep a trailing slash in redirects to HTTPS."`
	UsePortInRedirects     bool     `key:"use-port-in-redirects" protects:"no" default:"false" doc:"Include the port in redirects."`
	HTTPRedirectCode       int      `key:"http-redirect-code" protects:"no" one:"301 302 307 308" default:"308" doc:"Status of redirects to HTTPS."`
	NoTLSRedirectLocations []string `key:"no-tls-redirect-locations" protects:"yes" kind:"word" default:"/.well-known/acme-challenge" doc:"Path prefixes that are never redirected to HTTPS."`
	HSTS                   bool     `key:"hsts" protects:"yes" default:"true" doc:"Send Strict-Transport-Security over TLS."`
	HSTSIncludeSubdomains  bool     `key:"hsts-include-subdomains" protects:"yes" default:"true" doc:"Add includeSubDomains to Strict-Transport-Security."`
	HSTSMaxAge             int      `key:"hsts-max-age" protects:"yes" default:"31536000" doc:"max-age of Strict-Transport-Security, in seconds."`
	HSTSPreload            bool     `key:"hsts-preload" protects:"yes" default:"false" doc:"Add preload to Strict-Transport-Security."`

	// Client address.
	UseForwardedHeaders             bool     `key:"use-forwarded-headers" protects:"yes" default:"false" doc:"Trust the client's X-Forwarded-* headers, and take its address from forwarded-for-header."`
	ComputeFullForwardedFor         bool     `key:"compute-full-forwarded-for" protects:"yes" default:"false" doc:"Append to X-Forwarded-For instead of replacing it."`
	ForwardedForProxyProtocolHeader string   `key:"forwarded-for-proxy-protocol-header" protects:"yes" kind:"header" default:"X-Forwarded-For-Proxy-Protocol" doc:"Header that tells pods the address from the PROXY protocol, with use-proxy-protocol. With use-forwarded-headers as well, the header with the suffix -Chain is reserved for nginx: a client that sends it gets 400."`
	ForwardedHostHeader             string   `key:"forwarded-host-header" protects:"yes" kind:"header" default:"X-Forwarded-Host" doc:"Header with the host that the client requested."`
	ForwardedForHeader              string   `key:"forwarded-for-header" protects:"yes" kind:"header" default:"X-Forwarded-For" doc:"Header with the client's address."`
	EnableRealIP                    bool     `key:"enable-real-ip" protects:"yes" default:"false" doc:"Take the client's address from forwarded-for-header even without use-forwarded-headers."`
	UseProxyProtocol                bool     `key:"use-proxy-protocol" protects:"yes" default:"false" doc:"Listeners speak the PROXY protocol. With use-forwarded-headers as well, the client's address comes from forwarded-for-header if the peer from the PROXY protocol is in proxy-real-ip-cidr; otherwise it is that peer's."`
	ProxyProtocolHeaderTimeout      string   `key:"proxy-protocol-header-timeout" protects:"no" kind:"goduration" default:"5s" doc:"How long TLS passthrough waits for the header of the PROXY protocol."`
	ProxyRealIPCIDR                 []string `key:"proxy-real-ip-cidr" protects:"yes" kind:"cidr" default:"0.0.0.0/0" doc:"Proxies that are trusted to report the client's address."`
	ProxyAddOriginalURIHeader       bool     `key:"proxy-add-original-uri-header" protects:"no" default:"false" doc:"Send X-Original-URI to pods."`
	UseGeoIP2                       bool     `key:"use-geoip2" protects:"yes" default:"false" doc:"Look up clients' addresses in MaxMind's databases."`
	GeoIP2AutoReloadMinutes         int      `key:"geoip2-autoreload-in-minutes" protects:"no" max:"525600" default:"0" doc:"How often nginx checks for new databases; 0: never."`

	// Access control and rate limits. Annotations take precedence over the source ranges and
	// limit-rate*.
	WhitelistSourceRange  []string `key:"whitelist-source-range" protects:"yes" kind:"cidr" default:"" doc:"Allowed clients; empty: all."`
	DenylistSourceRange   []string `key:"denylist-source-range" protects:"yes" kind:"cidr" default:"" doc:"Denied clients."`
	BlockCIDRs            []string `key:"block-cidrs" protects:"yes" kind:"cidr" default:"" doc:"Clients denied by every server. A path with its own list (allowlist-source-range, denylist-source-range) uses that list instead."`
	BlockUserAgents       []string `key:"block-user-agents" protects:"yes" kind:"mapkey" default:"" doc:"Blocked user agents; ~ or ~* starts a regular expression."`
	BlockReferers         []string `key:"block-referers" protects:"yes" kind:"mapkey" default:"" doc:"Blocked referers; ~ or ~* starts a regular expression."`
	LimitConnZoneVariable string   `key:"limit-conn-zone-variable" protects:"yes" kind:"variable" default:"$binary_remote_addr" doc:"Variable that identifies a client for limits."`
	LimitReqStatusCode    int      `key:"limit-req-status-code" protects:"yes" min:"400" max:"599" default:"503" doc:"Status of requests above a request rate limit."`
	LimitConnStatusCode   int      `key:"limit-conn-status-code" protects:"yes" min:"400" max:"599" default:"503" doc:"Status of requests above a connection limit."`
	LimitRate             int      `key:"limit-rate" protects:"yes" default:"0" doc:"Rate at which a response is sent, in KB/s; 0: no limit."`
	LimitRateAfter        int      `key:"limit-rate-after" protects:"yes" default:"0" doc:"KB of a response after which limit-rate applies."`

	// External authentication of all locations.
	GlobalAuthURL                 string   `key:"global-auth-url" protects:"yes" kind:"authurl" default:"" doc:"Service that authenticates each request, except in locations that have an auth-url or opt out with enable-global-auth."`
	GlobalAuthMethod              string   `key:"global-auth-method" protects:"yes" kind:"verb" default:"" doc:"HTTP method of the authentication request."`
	GlobalAuthSignin              string   `key:"global-auth-signin" protects:"yes" kind:"urlvars" default:"" doc:"Where clients that are not authenticated are redirected."`
	GlobalAuthSigninRedirectParam string   `key:"global-auth-signin-redirect-param" protects:"yes" kind:"url" default:"rd" doc:"Parameter of global-auth-signin that contains the requested URL."`
	GlobalAuthResponseHeaders     []string `key:"global-auth-response-headers" protects:"yes" kind:"header" default:"" doc:"Headers of the authentication response to send to pods."`
	GlobalAuthRequestRedirect     string   `key:"global-auth-request-redirect" protects:"yes" kind:"urlvars" default:"" doc:"X-Auth-Request-Redirect of the authentication request."`
	GlobalAuthSnippet             string   `key:"global-auth-snippet" protects:"yes" default:"" doc:"Inserted into the location that sends the authentication request."`
	GlobalAuthCacheKey            string   `key:"global-auth-cache-key" protects:"yes" kind:"quotable" default:"" doc:"Cache key of authentication responses; empty: no cache."`
	GlobalAuthCacheDuration       []string `key:"global-auth-cache-duration" protects:"yes" kind:"cachetime" default:"" doc:"How long authentication responses are cached, by status, such as 200 202 30m; empty: only as long as their own headers say."`
	GlobalAuthAlwaysSetCookie     bool     `key:"global-auth-always-set-cookie" protects:"yes" default:"false" doc:"Send the cookies of the authentication response to the client, whatever its status."`
	NoAuthLocations               []string `key:"no-auth-locations" protects:"yes" kind:"word" default:"/.well-known/acme-challenge" doc:"Path prefixes that need no authentication."`

	// Upstream connections.
	UpstreamKeepaliveConnections int    `key:"upstream-keepalive-connections" protects:"no" max:"65536" default:"320" doc:"Idle connections to pods per worker; 0: none."`
	UpstreamKeepaliveTime        string `key:"upstream-keepalive-time" protects:"no" kind:"time" default:"1h" doc:"Maximum age of a connection to a pod."`
	UpstreamKeepaliveTimeout     int    `key:"upstream-keepalive-timeout" protects:"no" default:"60" doc:"Seconds a connection to a pod may be idle."`
	UpstreamKeepaliveRequests    int    `key:"upstream-keepalive-requests" protects:"no" min:"1" default:"10000" doc:"Maximum number of requests per connection to a pod."`
	LoadBalance                  string `key:"load-balance" protects:"no" one:"round_robin ewma" default:"" doc:"The load-balancing algorithm; empty: round_robin."`

	// Proxying. The annotations of an ingress take precedence.
	ProxyBodySize               string   `key:"proxy-body-size" protects:"no" kind:"offset" default:"1m" doc:"Maximum size of a request body."`
	ProxyConnectTimeout         int      `key:"proxy-connect-timeout" protects:"no" default:"5" doc:"Seconds to connect to a pod."`
	ProxyReadTimeout            int      `key:"proxy-read-timeout" protects:"no" default:"60" doc:"Seconds between two reads from a pod."`
	ProxySendTimeout            int      `key:"proxy-send-timeout" protects:"no" default:"60" doc:"Seconds between two writes to a pod."`
	ProxyBuffersNumber          int      `key:"proxy-buffers-number" protects:"no" max:"65536" min:"2" default:"4" doc:"Number of buffers for a response of a pod."`
	ProxyBufferSize             string   `key:"proxy-buffer-size" protects:"no" most:"128m" kind:"size" default:"4k" doc:"Size of one buffer."`
	ProxyBusyBuffersSize        string   `key:"proxy-busy-buffers-size" protects:"no" most:"128m" kind:"size" default:"" doc:"proxy_busy_buffers_size; empty: nginx's default."`
	ProxyBuffering              string   `key:"proxy-buffering" protects:"no" one:"on off" default:"off" doc:"Buffer responses."`
	ProxyRequestBuffering       string   `key:"proxy-request-buffering" protects:"no" one:"on off" default:"on" doc:"Read the whole request body before sending it to a pod."`
	ProxyMaxTempFileSize        string   `key:"proxy-max-temp-file-size" protects:"no" kind:"size" default:"1024m" doc:"Maximum size of a temporary file for a response."`
	ProxyHTTPVersion            string   `key:"proxy-http-version" protects:"no" one:"1.0 1.1" default:"1.1" doc:"HTTP version for requests to pods."`
	ProxyCookieDomain           string   `key:"proxy-cookie-domain" protects:"no" kind:"pair" default:"off" doc:"proxy_cookie_domain."`
	ProxyCookiePath             string   `key:"proxy-cookie-path" protects:"no" kind:"pair" default:"off" doc:"proxy_cookie_path."`
	ProxyRedirectFrom           string   `key:"proxy-redirect-from" protects:"no" kind:"redirected" default:"off" doc:"First parameter of proxy_redirect; ~ or ~* starts a regular expression."`
	ProxyRedirectTo             string   `key:"proxy-redirect-to" protects:"no" kind:"word" default:"off" doc:"Second parameter of proxy_redirect."`
	ProxyNextUpstream           string   `key:"proxy-next-upstream" protects:"no" kind:"conditions" default:"error timeout" doc:"Errors after which the request is passed to the next pod."`
	ProxyNextUpstreamTimeout    int      `key:"proxy-next-upstream-timeout" protects:"no" default:"0" doc:"Seconds within which the next pod may be tried; 0: no limit."`
	ProxyNextUpstreamTries      int      `key:"proxy-next-upstream-tries" protects:"no" default:"3" doc:"Maximum number of pods to try; 0: no limit."`
	RetryNonIdempotent          bool     `key:"retry-non-idempotent" protects:"no" default:"false" doc:"Pass POST, LOCK and PATCH requests to the next pod as well."`
	ServiceUpstream             bool     `key:"service-upstream" protects:"no" default:"false" doc:"Send requests to the addresses of services instead of pods."`
	CustomHTTPErrors            []int    `key:"custom-http-errors" protects:"yes" kind:"status" min:"300" max:"599" default:"" doc:"Statuses of pods for which the default backend answers instead."`
	DisableProxyInterceptErrors bool     `key:"disable-proxy-intercept-errors" protects:"yes" default:"false" doc:"Pass the statuses of custom-http-errors through."`
	ProxySetHeaders             string   `key:"proxy-set-headers" protects:"yes" kind:"object" default:"" doc:"ConfigMap (namespace/name) of headers to send to pods."`
	AddHeaders                  string   `key:"add-headers" protects:"no" kind:"object" default:"" doc:"ConfigMap (namespace/name) of headers to send to clients."`
	HideHeaders                 []string `key:"hide-headers" protects:"yes" kind:"header" default:"" doc:"Headers of pods to hide from clients."`
	AllowBackendServerHeader    bool     `key:"allow-backend-server-header" protects:"no" default:"false" doc:"Pass the pod's Server header to clients."`

	// Web application firewall and tracing.
	EnableModsecurity              bool    `key:"enable-modsecurity" protects:"yes" default:"false" doc:"Enable ModSecurity in every location."`
	EnableOWASPCoreRules           bool    `key:"enable-owasp-modsecurity-crs" protects:"yes" default:"false" doc:"Enable the OWASP core rules."`
	ModsecuritySnippet             string  `key:"modsecurity-snippet" protects:"yes" default:"" doc:"ModSecurity rules that replace the recommended ones."`
	EnableOpentelemetry            bool    `key:"enable-opentelemetry" protects:"no" default:"false" doc:"Trace every location."`
	OpentelemetryConfig            string  `key:"opentelemetry-config" protects:"no" kind:"file" default:"/etc/ingress-controller/telemetry/opentelemetry.toml" doc:"Configuration file of nginx's module; generated from the otel-* keys."`
	OpentelemetryOperationName     string  `key:"opentelemetry-operation-name" protects:"no" kind:"quotable" default:"" doc:"Operation name of the spans; empty: the module's default."`
	OpentelemetryTrustIncomingSpan bool    `key:"opentelemetry-trust-incoming-span" protects:"no" default:"true" doc:"Continue the client's span."`
	OtlpCollectorHost              string  `key:"otlp-collector-host" protects:"no" kind:"word" default:"" doc:"Host of the collector."`
	OtlpCollectorPort              int     `key:"otlp-collector-port" protects:"no" min:"1" max:"65535" default:"4317" doc:"Port of the collector."`
	OtelServiceName                string  `key:"otel-service-name" protects:"no" kind:"quotable" default:"nginx" doc:"Service name in spans."`
	OtelSampler                    string  `key:"otel-sampler" protects:"no" kind:"word" default:"AlwaysOn" doc:"Sampler: AlwaysOn, AlwaysOff or TraceIdRatioBased."`
	OtelSamplerRatio               float64 `key:"otel-sampler-ratio" protects:"no" max:"1" default:"0.01" doc:"Share of requests to trace with TraceIdRatioBased."`
	OtelSamplerParentBased         bool    `key:"otel-sampler-parent-based" protects:"no" default:"true" doc:"Follow the sampling decision of the client's span."`
	OtelMaxQueueSize               int     `key:"otel-max-queuesize" protects:"no" max:"1048576" min:"1" default:"2048" doc:"Maximum number of queued spans."`
	OtelScheduleDelayMillis        int     `key:"otel-schedule-delay-millis" protects:"no" min:"1" default:"5000" doc:"Milliseconds between two batches."`
	OtelMaxExportBatchSize         int     `key:"otel-max-export-batch-size" protects:"no" max:"1048576" min:"1" default:"512" doc:"Maximum number of spans per batch."`

	// OpenTracing, which ingress-nginx supported until 1.9: the configuration of a tracer library,
	// for a template or snippets that load it.
	ZipkinCollectorHost            string  `key:"zipkin-collector-host" protects:"no" kind:"word" default:"" doc:"Host of Zipkin's collector."`
	ZipkinCollectorPort            int     `key:"zipkin-collector-port" protects:"no" min:"1" max:"65535" default:"9411" doc:"Port of Zipkin's collector."`
	ZipkinServiceName              string  `key:"zipkin-service-name" protects:"no" kind:"quotable" default:"nginx" doc:"Service name in spans."`
	ZipkinSampleRate               float64 `key:"zipkin-sample-rate" protects:"no" max:"1" default:"1" doc:"Share of requests to trace."`
	JaegerCollectorHost            string  `key:"jaeger-collector-host" protects:"no" kind:"word" default:"" doc:"Host of Jaeger's agent."`
	JaegerCollectorPort            int     `key:"jaeger-collector-port" protects:"no" min:"1" max:"65535" default:"6831" doc:"Port of Jaeger's agent."`
	JaegerEndpoint                 string  `key:"jaeger-endpoint" protects:"no" kind:"word" default:"" doc:"URL of Jaeger's collector; takes precedence over the agent."`
	JaegerServiceName              string  `key:"jaeger-service-name" protects:"no" kind:"quotable" default:"nginx" doc:"Service name in spans."`
	JaegerPropagationFormat        string  `key:"jaeger-propagation-format" protects:"no" one:"jaeger w3c" default:"jaeger" doc:"Format of the headers that carry a trace."`
	JaegerSamplerType              string  `key:"jaeger-sampler-type" protects:"no" one:"const probabilistic ratelimiting remote" default:"const" doc:"Sampler type."`
	JaegerSamplerParam             float64 `key:"jaeger-sampler-param" protects:"no" max:"1000000" default:"1" doc:"Parameter of the sampler: share of requests, or requests per second; 0 or 1 with const."`
	JaegerSamplerHost              string  `key:"jaeger-sampler-host" protects:"no" kind:"word" default:"http://127.0.0.1" doc:"URL of the sampling server, with the sampler type remote."`
	JaegerSamplerPort              int     `key:"jaeger-sampler-port" protects:"no" min:"1" max:"65535" default:"5778" doc:"Port of the sampling server."`
	JaegerTraceContextHeaderName   string  `key:"jaeger-trace-context-header-name" protects:"no" kind:"header" default:"uber-trace-id" doc:"Header that carries a trace."`
	JaegerDebugHeader              string  `key:"jaeger-debug-header" protects:"no" kind:"header" default:"uber-debug-id" doc:"Header that forces the tracing of a request."`
	JaegerBaggageHeader            string  `key:"jaeger-baggage-header" protects:"no" kind:"header" default:"jaeger-baggage" doc:"Header that adds baggage to a trace."`
	JaegerTraceBaggageHeaderPrefix string  `key:"jaeger-trace-baggage-header-prefix" protects:"no" kind:"header" default:"uberctx-" doc:"Prefix of the headers that carry baggage."`
	DatadogCollectorHost           string  `key:"datadog-collector-host" protects:"no" kind:"word" default:"" doc:"Host of Datadog's agent."`
	DatadogCollectorPort           int     `key:"datadog-collector-port" protects:"no" min:"1" max:"65535" default:"8126" doc:"Its port."`
	DatadogServiceName             string  `key:"datadog-service-name" protects:"no" kind:"quotable" default:"nginx" doc:"Service name in spans."`
	DatadogEnvironment             string  `key:"datadog-environment" protects:"no" kind:"quotable" default:"prod" doc:"Environment in spans."`
	DatadogOperationNameOverride   string  `key:"datadog-operation-name-override" protects:"no" kind:"quotable" default:"nginx.handle" doc:"Operation name of the spans."`
	DatadogSampleRate              float64 `key:"datadog-sample-rate" protects:"no" max:"1" default:"1" doc:"Share of requests to trace."`

	// TCP and UDP services.
	ProxyStreamTimeout             string `key:"proxy-stream-timeout" protects:"no" kind:"time" default:"600s" doc:"How long a TCP connection or UDP session may be idle."`
	ProxyStreamNextUpstream        bool   `key:"proxy-stream-next-upstream" protects:"no" default:"true" doc:"Try the next pod if a connection cannot be established."`
	ProxyStreamNextUpstreamTimeout string `key:"proxy-stream-next-upstream-timeout" protects:"no" kind:"time" default:"600s" doc:"Time within which the next pod may be tried."`
	ProxyStreamNextUpstreamTries   int    `key:"proxy-stream-next-upstream-tries" protects:"no" default:"3" doc:"Maximum number of pods to try; 0: no limit."`
	ProxyStreamResponses           int    `key:"proxy-stream-responses" protects:"no" default:"1" doc:"Number of datagrams that a pod sends in response to one of a client; a UDP session ends with the last."`
	DisableStreamAccessLog         bool   `key:"disable-stream-access-log" protects:"no" default:"false" doc:"Disable the access log of TCP and UDP."`
	StreamAccessLogPath            string `key:"stream-access-log-path" protects:"no" kind:"word" default:"" doc:"Overrides access-log-path for TCP and UDP."`
	LogFormatStream                string `key:"log-format-stream" protects:"no" kind:"quoted" default:"[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time" doc:"Format of the access log for TCP and UDP."`
	StreamSnippet                  string `key:"stream-snippet" protects:"directives" default:"" doc:"Inserted into the stream block."`

	// Which annotations are accepted.
	AnnotationsRiskLevel         string   `key:"annotations-risk-level" protects:"gate" default:"High" doc:"Highest risk of annotations that are accepted: Low, Medium, High or Critical, in any letter case; any other value means Low."`
	AnnotationValueWordBlocklist []string `key:"annotation-value-word-blocklist" protects:"gate" default:"" doc:"Words that annotation values must not contain."`
	AllowSnippetAnnotations      bool     `key:"allow-snippet-annotations" protects:"gate" default:"false" doc:"Accept annotations that insert text into nginx.conf; requires the risk level Critical."`
	AllowCrossNamespaceResources bool     `key:"allow-cross-namespace-resources" protects:"gate" default:"false" doc:"Annotations may name Secrets and ConfigMaps of other namespaces."`
	StrictValidatePathType       bool     `key:"strict-validate-path-type" protects:"gate" default:"true" doc:"The webhook accepts only plain characters in Exact and Prefix paths."`
	GlobalAllowedResponseHeaders []string `key:"global-allowed-response-headers" protects:"gate" kind:"header" default:"" doc:"Headers that the annotation custom-headers may set."`

	// Our own servers, Lua, and text that is inserted unchanged.
	NginxStatusIpv4Whitelist []string       `key:"nginx-status-ipv4-whitelist" protects:"yes" kind:"cidr" default:"127.0.0.1" doc:"IPv4 clients that may read /nginx_status."`
	NginxStatusIpv6Whitelist []string       `key:"nginx-status-ipv6-whitelist" protects:"yes" kind:"cidr" default:"::1" doc:"IPv6 clients that may read /nginx_status."`
	LuaSharedDicts           map[string]int `key:"lua-shared-dicts" protects:"no" kind:"dicts" default:"configuration_data: 20M, certificate_data: 20M, certificate_servers: 5M, ocsp_response_cache: 5M, balancer_ewma: 10M, balancer_ewma_last_touched_at: 10M, balancer_ewma_locks: 1M" doc:"Sizes of Lua's shared dictionaries; override the defaults; a plain number is in MB."`
	MainSnippet              string         `key:"main-snippet" protects:"directives" default:"" doc:"Inserted into the main block of nginx.conf."`
	HTTPSnippet              string         `key:"http-snippet" protects:"directives" default:"" doc:"Inserted into the http block."`
	ServerSnippet            string         `key:"server-snippet" protects:"directives" default:"" doc:"Inserted into every server."`
	LocationSnippet          string         `key:"location-snippet" protects:"directives" default:"" doc:"Inserted into every location."`

	// Keys that ingress-nginx declares but never uses. They are accepted and have no effect.
	UpstreamHashBy           string `key:"upstream-hash-by" protects:"no" default:"" doc:"No effect, as in ingress-nginx; use the annotation of the same name."`
	UpstreamHashBySubset     string `key:"upstream-hash-by-subset" protects:"no" default:"" doc:"No effect, as in ingress-nginx; use the annotation of the same name."`
	UpstreamHashBySubsetSize string `key:"upstream-hash-by-subset-size" protects:"no" default:"" doc:"No effect, as in ingress-nginx; use the annotation of the same name."`
	AppRoot                  string `key:"app-root" protects:"no" default:"" doc:"No effect, as in ingress-nginx; use the annotation of the same name."`
}
