package options

// Config is the controller's ConfigMap as typed values, and at the same time
// its table: one row a key. The tags of a row are the key, its default, what
// kind of value it is where the Go type does not say (see kinds), the range of
// a number, the choices of a choice, and what it does. Keys and defaults are
// those of ingress-nginx; field names are those its template reads (.Cfg).
type Config struct {
	// Processes and connections.
	WorkerProcesses       string   `key:"worker-processes" kind:"workers" default:"auto" doc:"Number of worker processes; auto lets nginx count the CPUs."`
	WorkerCPUAffinity     string   `key:"worker-cpu-affinity" kind:"cpus" default:"" doc:"Binds workers to CPUs (worker_cpu_affinity)."`
	WorkerShutdownTimeout string   `key:"worker-shutdown-timeout" kind:"time" default:"240s" doc:"How long an old worker may finish its connections after a reload."`
	MaxWorkerConnections  int      `key:"max-worker-connections" max:"1048576" default:"16384" doc:"Connections a worker; 0 is three quarters of max-worker-open-files."`
	MaxWorkerOpenFiles    int      `key:"max-worker-open-files" max:"1073741824" default:"0" doc:"Files a worker; 0 is the hard limit less 1024."`
	EnableMultiAccept     bool     `key:"enable-multi-accept" default:"true" doc:"A worker accepts all waiting connections at once."`
	EnableAioWrite        bool     `key:"enable-aio-write" default:"true" doc:"Write files in threads (aio_write)."`
	BindAddress           []string `key:"bind-address" kind:"ip" default:"" doc:"Addresses to listen on; empty is all."`
	ReusePort             bool     `key:"reuse-port" default:"true" doc:"Each worker has its own listening socket (SO_REUSEPORT)."`
	DisableIpv6           bool     `key:"disable-ipv6" default:"false" doc:"Do not listen on IPv6."`
	DisableIpv6DNS        bool     `key:"disable-ipv6-dns" default:"false" doc:"Do not ask DNS for IPv6 addresses."`
	DebugConnections      []string `key:"debug-connections" kind:"cidr" default:"" doc:"Clients whose connections are logged in full (debug_connection)."`
	EnableSerialReloads   bool     `key:"enable-serial-reloads" default:"false" doc:"Reload only when the workers of the reload before have ended."`

	// Clients.
	KeepAlive                  int    `key:"keep-alive" default:"75" doc:"Seconds a client's idle connection stays open; 0 turns keep-alive off."`
	KeepAliveRequests          int    `key:"keep-alive-requests" default:"1000" doc:"Requests a client's connection may carry."`
	ClientHeaderBufferSize     string `key:"client-header-buffer-size" most:"1m" kind:"bytes" default:"1k" doc:"Buffer for a request's header."`
	ClientHeaderTimeout        int    `key:"client-header-timeout" default:"60" doc:"Seconds a client may take over its header."`
	ClientBodyBufferSize       string `key:"client-body-buffer-size" most:"128m" kind:"bytes" default:"8k" doc:"Bodies above it go to a file."`
	ClientBodyTimeout          int    `key:"client-body-timeout" default:"60" doc:"Seconds between two reads of a body."`
	LargeClientHeaderBuffers   string `key:"large-client-header-buffers" kind:"buffers" default:"4 8k" doc:"Number and size of the buffers for large headers."`
	IgnoreInvalidHeaders       bool   `key:"ignore-invalid-headers" default:"true" doc:"Drop header fields with invalid names."`
	EnableUnderscoresInHeaders bool   `key:"enable-underscores-in-headers" default:"false" doc:"Allow underscores in header names."`
	UseHTTP2                   bool   `key:"use-http2" default:"true" doc:"HTTP/2 on TLS listeners."`
	HTTP2MaxConcurrentStreams  int    `key:"http2-max-concurrent-streams" min:"1" max:"65536" default:"128" doc:"Streams a connection."`
	HTTP2MaxFieldSize          string `key:"http2-max-field-size" most:"1m" kind:"size" default:"" doc:"http2_max_field_size; obsolete in nginx since 1.19.7."`
	HTTP2MaxHeaderSize         string `key:"http2-max-header-size" most:"1m" kind:"size" default:"" doc:"http2_max_header_size; obsolete in nginx since 1.19.7."`
	HTTP2MaxRequests           int    `key:"http2-max-requests" default:"0" doc:"http2_max_requests; obsolete in nginx since 1.19.7."`
	GRPCBufferSizeKb           int    `key:"grpc-buffer-size-kb" max:"16384" default:"0" doc:"Size of the buffer for a gRPC pod's answer, in KB; 0 leaves nginx's own."`
	ShowServerTokens           bool   `key:"server-tokens" default:"false" doc:"Show nginx's version to clients."`
	DefaultType                string `key:"default-type" kind:"word" default:"text/html" doc:"MIME type of answers that have none."`
	GenerateRequestID          bool   `key:"generate-request-id" default:"true" doc:"Give a request an X-Request-ID when it has none."`
	RelativeRedirects          bool   `key:"relative-redirects" default:"false" doc:"Redirects of nginx name no host."`

	// Hash tables.
	MapHashBucketSize          int `key:"map-hash-bucket-size" min:"1" max:"65472" default:"64" doc:"map_hash_bucket_size."`
	ServerNameHashMaxSize      int `key:"server-name-hash-max-size" max:"1048576" min:"1" default:"1024" doc:"Least server_names_hash_max_size; raised when the hosts need it."`
	ServerNameHashBucketSize   int `key:"server-name-hash-bucket-size" max:"65472" default:"0" doc:"Least server_names_hash_bucket_size; raised when the hosts need it."`
	ProxyHeadersHashMaxSize    int `key:"proxy-headers-hash-max-size" max:"1048576" min:"1" default:"512" doc:"proxy_headers_hash_max_size."`
	ProxyHeadersHashBucketSize int `key:"proxy-headers-hash-bucket-size" min:"1" max:"65472" default:"64" doc:"proxy_headers_hash_bucket_size."`
	VariablesHashBucketSize    int `key:"variables-hash-bucket-size" min:"1" max:"65472" default:"256" doc:"variables_hash_bucket_size."`
	VariablesHashMaxSize       int `key:"variables-hash-max-size" max:"1048576" min:"1" default:"2048" doc:"variables_hash_max_size."`

	// Logs.
	AccessLogPath                    string   `key:"access-log-path" kind:"word" default:"/var/log/nginx/access.log" doc:"Where requests are logged."`
	HTTPAccessLogPath                string   `key:"http-access-log-path" kind:"word" default:"" doc:"Goes before access-log-path for HTTP."`
	AccessLogParams                  string   `key:"access-log-params" kind:"logparams" default:"" doc:"Further parameters of access_log, such as buffer=16k."`
	DisableAccessLog                 bool     `key:"disable-access-log" default:"false" doc:"No access log at all."`
	DisableHTTPAccessLog             bool     `key:"disable-http-access-log" default:"false" doc:"No access log of HTTP."`
	EnableAuthAccessLog              bool     `key:"enable-auth-access-log" default:"false" doc:"Log the requests of external authentication."`
	EnableAccessLogForDefaultBackend bool     `key:"enable-access-log-for-default-backend" default:"false" doc:"Log requests that no ingress takes."`
	SkipAccessLogURLs                []string `key:"skip-access-log-urls" kind:"regexes" default:"" doc:"Request URIs that are not logged."`
	ErrorLogPath                     string   `key:"error-log-path" kind:"word" default:"/var/log/nginx/error.log" doc:"Where nginx logs errors."`
	ErrorLogLevel                    string   `key:"error-log-level" one:"debug info notice warn error crit alert emerg" default:"notice" doc:"Least severity logged."`
	LogFormatEscapeJSON              bool     `key:"log-format-escape-json" default:"false" doc:"Escape values for JSON."`
	LogFormatEscapeNone              bool     `key:"log-format-escape-none" default:"false" doc:"Do not escape values."`
	LogFormatUpstream                string   `key:"log-format-upstream" kind:"quoted" default:"$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent \"$http_referer\" \"$http_user_agent\" $request_length $request_time [$proxy_upstream_name] [$proxy_alternative_upstream_name] $upstream_addr $upstream_response_length $upstream_response_time $upstream_status $req_id" doc:"Format of the access log."`
	EnableSyslog                     bool     `key:"enable-syslog" default:"false" doc:"Log to syslog instead of files."`
	SyslogHost                       string   `key:"syslog-host" kind:"host" default:"" doc:"Where syslog listens."`
	SyslogPort                       int      `key:"syslog-port" min:"1" max:"65535" default:"514" doc:"On which UDP port."`

	// Compression.
	UseGzip         bool   `key:"use-gzip" default:"false" doc:"Compress answers."`
	GzipLevel       int    `key:"gzip-level" min:"1" max:"9" default:"1" doc:"Compression level."`
	GzipMinLength   int    `key:"gzip-min-length" default:"256" doc:"Shortest answer compressed, in bytes."`
	GzipDisable     string `key:"gzip-disable" kind:"regex" default:"" doc:"User agents whose answers are not compressed."`
	GzipTypes       string `key:"gzip-types" kind:"words" default:"application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component" doc:"MIME types compressed besides text/html."`
	EnableBrotli    bool   `key:"enable-brotli" default:"false" doc:"Compress answers with Brotli."`
	BrotliLevel     int    `key:"brotli-level" max:"11" default:"4" doc:"Its compression level."`
	BrotliMinLength int    `key:"brotli-min-length" default:"20" doc:"Shortest answer compressed, in bytes."`
	BrotliTypes     string `key:"brotli-types" kind:"words" default:"application/xml+rss application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component" doc:"MIME types compressed besides text/html."`

	// TLS.
	SSLProtocols           string   `key:"ssl-protocols" kind:"protocols" default:"TLSv1.2 TLSv1.3" doc:"TLS versions."`
	SSLCiphers             string   `key:"ssl-ciphers" kind:"ciphers" default:"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256" doc:"Cipher suites up to TLS 1.2."`
	SSLECDHCurve           string   `key:"ssl-ecdh-curve" kind:"curves" default:"auto" doc:"Curves for ECDHE."`
	SSLBufferSize          string   `key:"ssl-buffer-size" least:"1" most:"1m" kind:"bytes" default:"4k" doc:"Size of a TLS record."`
	SSLSessionCache        bool     `key:"ssl-session-cache" default:"true" doc:"Share a session cache among workers."`
	SSLSessionCacheSize    string   `key:"ssl-session-cache-size" least:"64k" most:"4096m" kind:"bytes" default:"10m" doc:"Its size."`
	SSLSessionTickets      bool     `key:"ssl-session-tickets" default:"false" doc:"Resume sessions by tickets."`
	SSLSessionTimeout      string   `key:"ssl-session-timeout" kind:"time" default:"10m" doc:"How long a session may be resumed."`
	SSLSessionTicketKey    string   `key:"ssl-session-ticket-key" kind:"ticketkey" default:"" doc:"Key of the tickets, 48 or 80 bytes in base64; empty is one that nginx makes at each start."`
	SSLDHParam             string   `key:"ssl-dh-param" kind:"object" default:"" doc:"Secret (namespace/name) whose dhparam.pem is used for DHE."`
	SSLEarlyData           bool     `key:"ssl-early-data" default:"false" doc:"Take TLS 1.3 early data (0-RTT)."`
	SSLRejectHandshake     bool     `key:"ssl-reject-handshake" default:"false" doc:"Refuse TLS handshakes for hosts that no ingress has."`
	EnableOCSP             bool     `key:"enable-ocsp" default:"false" doc:"Staple OCSP answers."`
	ProxySSLLocationOnly   bool     `key:"proxy-ssl-location-only" default:"false" doc:"The annotations proxy-ssl-* are about locations only, not about their servers."`
	SSLRedirect            bool     `key:"ssl-redirect" default:"true" doc:"Redirect HTTP to HTTPS on hosts with a certificate."`
	ForceSSLRedirect       bool     `key:"force-ssl-redirect" default:"false" doc:"Redirect HTTP to HTTPS on every host."`
	PreserveTrailingSlash  bool     `key:"preserve-trailing-slash" default:"false" doc:"Keep a trailing slash in that redirect."`
	UsePortInRedirects     bool     `key:"use-port-in-redirects" default:"false" doc:"Name the port in redirects."`
	HTTPRedirectCode       int      `key:"http-redirect-code" one:"301 302 307 308" default:"308" doc:"Status of redirects to HTTPS."`
	NoTLSRedirectLocations []string `key:"no-tls-redirect-locations" kind:"word" default:"/.well-known/acme-challenge" doc:"Path prefixes never redirected to HTTPS."`
	HSTS                   bool     `key:"hsts" default:"true" doc:"Send Strict-Transport-Security over TLS."`
	HSTSIncludeSubdomains  bool     `key:"hsts-include-subdomains" default:"true" doc:"Its includeSubDomains."`
	HSTSMaxAge             int      `key:"hsts-max-age" default:"31536000" doc:"Its max-age, in seconds."`
	HSTSPreload            bool     `key:"hsts-preload" default:"false" doc:"Its preload."`

	// Who the client is.
	UseForwardedHeaders             bool     `key:"use-forwarded-headers" default:"false" doc:"Believe X-Forwarded-* of the client, and that its address is what forwarded-for-header says."`
	ComputeFullForwardedFor         bool     `key:"compute-full-forwarded-for" default:"false" doc:"Append to X-Forwarded-For instead of replacing it."`
	ForwardedForProxyProtocolHeader string   `key:"forwarded-for-proxy-protocol-header" kind:"header" default:"X-Forwarded-For-Proxy-Protocol" doc:"Header that tells pods the address from the PROXY protocol, with use-proxy-protocol. With use-forwarded-headers as well, the header with the suffix -Chain is nginx's own: a client that sends it gets 400."`
	ForwardedHostHeader             string   `key:"forwarded-host-header" kind:"header" default:"X-Forwarded-Host" doc:"Header with the host that the client asked for."`
	ForwardedForHeader              string   `key:"forwarded-for-header" kind:"header" default:"X-Forwarded-For" doc:"Header with the client's address."`
	EnableRealIP                    bool     `key:"enable-real-ip" default:"false" doc:"Take the client's address from forwarded-for-header, without use-forwarded-headers, too."`
	UseProxyProtocol                bool     `key:"use-proxy-protocol" default:"false" doc:"Listeners speak the PROXY protocol. With use-forwarded-headers as well, the client's address comes from forwarded-for-header if the peer from the PROXY protocol is in proxy-real-ip-cidr; otherwise it is that peer's."`
	ProxyProtocolHeaderTimeout      string   `key:"proxy-protocol-header-timeout" kind:"goduration" default:"5s" doc:"How long TLS passthrough waits for the PROXY protocol's header."`
	ProxyRealIPCIDR                 []string `key:"proxy-real-ip-cidr" kind:"cidr" default:"0.0.0.0/0" doc:"Proxies whose word on the client's address is believed."`
	ProxyAddOriginalURIHeader       bool     `key:"proxy-add-original-uri-header" default:"false" doc:"Send X-Original-URI to pods."`
	UseGeoIP2                       bool     `key:"use-geoip2" default:"false" doc:"Look clients' addresses up in MaxMind's databases."`
	GeoIP2AutoReloadMinutes         int      `key:"geoip2-autoreload-in-minutes" max:"525600" default:"0" doc:"How often nginx looks for newer databases; 0 is never."`

	// Who may come, and how often. Annotations go before the source ranges and limit-rate*.
	WhitelistSourceRange  []string `key:"whitelist-source-range" kind:"cidr" default:"" doc:"Clients let in; empty is all."`
	DenylistSourceRange   []string `key:"denylist-source-range" kind:"cidr" default:"" doc:"Clients kept out."`
	BlockCIDRs            []string `key:"block-cidrs" kind:"cidr" default:"" doc:"Clients kept out of every server."`
	BlockUserAgents       []string `key:"block-user-agents" kind:"mapkey" default:"" doc:"User agents kept out; with ~ or ~* in front, a pattern."`
	BlockReferers         []string `key:"block-referers" kind:"mapkey" default:"" doc:"Referers kept out; with ~ or ~* in front, a pattern."`
	LimitConnZoneVariable string   `key:"limit-conn-zone-variable" kind:"variable" default:"$binary_remote_addr" doc:"What clients are told apart by, in limits."`
	LimitReqStatusCode    int      `key:"limit-req-status-code" min:"400" max:"599" default:"503" doc:"Status of requests above a rate."`
	LimitConnStatusCode   int      `key:"limit-conn-status-code" min:"400" max:"599" default:"503" doc:"Status of requests above a number of connections."`
	LimitRate             int      `key:"limit-rate" default:"0" doc:"KB a second that an answer is sent with; 0 is no limit."`
	LimitRateAfter        int      `key:"limit-rate-after" default:"0" doc:"KB of an answer sent before limit-rate holds."`

	// External authentication of all locations.
	GlobalAuthURL                 string   `key:"global-auth-url" kind:"authurl" default:"" doc:"Where each request is authenticated, but for locations that have an auth-url or opt out by enable-global-auth."`
	GlobalAuthMethod              string   `key:"global-auth-method" kind:"verb" default:"" doc:"HTTP method of that question."`
	GlobalAuthSignin              string   `key:"global-auth-signin" kind:"urlvars" default:"" doc:"Where clients are sent that are not authenticated."`
	GlobalAuthSigninRedirectParam string   `key:"global-auth-signin-redirect-param" kind:"url" default:"rd" doc:"Parameter of global-auth-signin that says where the client came from."`
	GlobalAuthResponseHeaders     []string `key:"global-auth-response-headers" kind:"header" default:"" doc:"Headers of the answer that pods get."`
	GlobalAuthRequestRedirect     string   `key:"global-auth-request-redirect" kind:"urlvars" default:"" doc:"X-Auth-Request-Redirect of the question."`
	GlobalAuthSnippet             string   `key:"global-auth-snippet" default:"" doc:"Put into the location that asks."`
	GlobalAuthCacheKey            string   `key:"global-auth-cache-key" kind:"quotable" default:"" doc:"Answers are cached by this; empty is not at all."`
	GlobalAuthCacheDuration       []string `key:"global-auth-cache-duration" kind:"cachetime" default:"200 202 401 5m" doc:"How long, by status, such as 200 202 30m."`
	GlobalAuthAlwaysSetCookie     bool     `key:"global-auth-always-set-cookie" default:"false" doc:"Send the cookies of the answer to the client, whatever the status."`
	NoAuthLocations               []string `key:"no-auth-locations" kind:"word" default:"/.well-known/acme-challenge" doc:"Path prefixes that need no authentication."`

	// Upstream connections.
	UpstreamKeepaliveConnections int    `key:"upstream-keepalive-connections" max:"65536" default:"320" doc:"Idle connections to pods that a worker keeps; 0 keeps none."`
	UpstreamKeepaliveTime        string `key:"upstream-keepalive-time" kind:"time" default:"1h" doc:"How long one may serve."`
	UpstreamKeepaliveTimeout     int    `key:"upstream-keepalive-timeout" default:"60" doc:"Seconds one may be idle."`
	UpstreamKeepaliveRequests    int    `key:"upstream-keepalive-requests" min:"1" default:"10000" doc:"Requests one may carry."`
	LoadBalance                  string `key:"load-balance" one:"round_robin ewma" default:"" doc:"How a pod is chosen; empty is round_robin."`

	// Proxying; an ingress's annotations go before these.
	ProxyBodySize               string   `key:"proxy-body-size" kind:"size" default:"1m" doc:"Largest request body."`
	ProxyConnectTimeout         int      `key:"proxy-connect-timeout" default:"5" doc:"Seconds to connect to a pod."`
	ProxyReadTimeout            int      `key:"proxy-read-timeout" default:"60" doc:"Seconds between two reads from a pod."`
	ProxySendTimeout            int      `key:"proxy-send-timeout" default:"60" doc:"Seconds between two writes to a pod."`
	ProxyBuffersNumber          int      `key:"proxy-buffers-number" max:"65536" min:"2" default:"4" doc:"Buffers for a pod's answer."`
	ProxyBufferSize             string   `key:"proxy-buffer-size" most:"128m" kind:"size" default:"4k" doc:"Size of one."`
	ProxyBusyBuffersSize        string   `key:"proxy-busy-buffers-size" most:"128m" kind:"size" default:"" doc:"proxy_busy_buffers_size; empty leaves nginx's own."`
	ProxyBuffering              string   `key:"proxy-buffering" one:"on off" default:"off" doc:"Buffer answers."`
	ProxyRequestBuffering       string   `key:"proxy-request-buffering" one:"on off" default:"on" doc:"Read the body before a pod is asked."`
	ProxyMaxTempFileSize        string   `key:"proxy-max-temp-file-size" kind:"size" default:"1024m" doc:"Largest file for a buffered answer."`
	ProxyHTTPVersion            string   `key:"proxy-http-version" one:"1.0 1.1" default:"1.1" doc:"HTTP version spoken to pods."`
	ProxyCookieDomain           string   `key:"proxy-cookie-domain" kind:"pair" default:"off" doc:"proxy_cookie_domain."`
	ProxyCookiePath             string   `key:"proxy-cookie-path" kind:"pair" default:"off" doc:"proxy_cookie_path."`
	ProxyRedirectFrom           string   `key:"proxy-redirect-from" kind:"word" default:"off" doc:"First parameter of proxy_redirect."`
	ProxyRedirectTo             string   `key:"proxy-redirect-to" kind:"word" default:"off" doc:"Second parameter of proxy_redirect."`
	ProxyNextUpstream           string   `key:"proxy-next-upstream" kind:"conditions" default:"error timeout" doc:"When the next pod is asked."`
	ProxyNextUpstreamTimeout    int      `key:"proxy-next-upstream-timeout" default:"0" doc:"Seconds in which it may be; 0 is no limit."`
	ProxyNextUpstreamTries      int      `key:"proxy-next-upstream-tries" default:"3" doc:"Pods asked at most; 0 is no limit."`
	RetryNonIdempotent          bool     `key:"retry-non-idempotent" default:"false" doc:"Ask the next pod for POST, LOCK and PATCH, too."`
	ServiceUpstream             bool     `key:"service-upstream" default:"false" doc:"Send requests to the services' own addresses, not to pods."`
	CustomHTTPErrors            []int    `key:"custom-http-errors" kind:"status" min:"300" max:"599" default:"" doc:"Statuses of pods that the default backend answers instead."`
	DisableProxyInterceptErrors bool     `key:"disable-proxy-intercept-errors" default:"false" doc:"Let the statuses of custom-http-errors through."`
	ProxySetHeaders             string   `key:"proxy-set-headers" kind:"object" default:"" doc:"ConfigMap (namespace/name) of headers sent to pods."`
	AddHeaders                  string   `key:"add-headers" kind:"object" default:"" doc:"ConfigMap (namespace/name) of headers sent to clients."`
	HideHeaders                 []string `key:"hide-headers" kind:"header" default:"" doc:"Headers of pods that clients do not see."`
	AllowBackendServerHeader    bool     `key:"allow-backend-server-header" default:"false" doc:"Show the pod's Server header."`

	// Web application firewall and tracing.
	EnableModsecurity              bool    `key:"enable-modsecurity" default:"false" doc:"ModSecurity in every location."`
	EnableOWASPCoreRules           bool    `key:"enable-owasp-modsecurity-crs" default:"false" doc:"With the OWASP core rules."`
	ModsecuritySnippet             string  `key:"modsecurity-snippet" default:"" doc:"Rules of ModSecurity, instead of the recommended ones."`
	EnableOpentelemetry            bool    `key:"enable-opentelemetry" default:"false" doc:"Trace every location."`
	OpentelemetryConfig            string  `key:"opentelemetry-config" kind:"file" default:"/etc/ingress-controller/telemetry/opentelemetry.toml" doc:"The file that nginx's module reads; it is made of the otel-* keys."`
	OpentelemetryOperationName     string  `key:"opentelemetry-operation-name" kind:"quotable" default:"" doc:"Name of the spans; empty leaves the module's own."`
	OpentelemetryTrustIncomingSpan bool    `key:"opentelemetry-trust-incoming-span" default:"true" doc:"Go on with the client's span."`
	OtlpCollectorHost              string  `key:"otlp-collector-host" kind:"word" default:"" doc:"Where spans are sent."`
	OtlpCollectorPort              int     `key:"otlp-collector-port" min:"1" max:"65535" default:"4317" doc:"On which port."`
	OtelServiceName                string  `key:"otel-service-name" kind:"quotable" default:"nginx" doc:"Name of the service in spans."`
	OtelSampler                    string  `key:"otel-sampler" kind:"word" default:"AlwaysOn" doc:"Which requests are traced: AlwaysOn, AlwaysOff, TraceIdRatioBased."`
	OtelSamplerRatio               float64 `key:"otel-sampler-ratio" max:"1" default:"0.01" doc:"Which part of them with TraceIdRatioBased."`
	OtelSamplerParentBased         bool    `key:"otel-sampler-parent-based" default:"true" doc:"Do as the client's span says."`
	OtelMaxQueueSize               int     `key:"otel-max-queuesize" max:"1048576" min:"1" default:"2048" doc:"Spans that wait at most."`
	OtelScheduleDelayMillis        int     `key:"otel-schedule-delay-millis" min:"1" default:"5000" doc:"Milliseconds between two batches."`
	OtelMaxExportBatchSize         int     `key:"otel-max-export-batch-size" max:"1048576" min:"1" default:"512" doc:"Spans a batch at most."`

	// OpenTracing, which ingress-nginx had until 1.9: the configuration of a
	// tracer's library, for a template that loads it.
	ZipkinCollectorHost            string  `key:"zipkin-collector-host" kind:"word" default:"" doc:"Where Zipkin's spans are sent."`
	ZipkinCollectorPort            int     `key:"zipkin-collector-port" min:"1" max:"65535" default:"9411" doc:"On which port."`
	ZipkinServiceName              string  `key:"zipkin-service-name" kind:"quotable" default:"nginx" doc:"Name of the service in spans."`
	ZipkinSampleRate               float64 `key:"zipkin-sample-rate" max:"1" default:"1" doc:"Which part of the requests is traced."`
	JaegerCollectorHost            string  `key:"jaeger-collector-host" kind:"word" default:"" doc:"Host of Jaeger's agent."`
	JaegerCollectorPort            int     `key:"jaeger-collector-port" min:"1" max:"65535" default:"6831" doc:"Its port."`
	JaegerEndpoint                 string  `key:"jaeger-endpoint" kind:"word" default:"" doc:"URL of Jaeger's collector; goes before the agent."`
	JaegerServiceName              string  `key:"jaeger-service-name" kind:"quotable" default:"nginx" doc:"Name of the service in spans."`
	JaegerPropagationFormat        string  `key:"jaeger-propagation-format" one:"jaeger w3c" default:"jaeger" doc:"Form of the headers that carry a trace."`
	JaegerSamplerType              string  `key:"jaeger-sampler-type" one:"const probabilistic ratelimiting remote" default:"const" doc:"Which requests are traced."`
	JaegerSamplerParam             float64 `key:"jaeger-sampler-param" max:"1000000" default:"1" doc:"Which part of them, or how many a second; for const 0 or 1."`
	JaegerSamplerHost              string  `key:"jaeger-sampler-host" kind:"word" default:"http://127.0.0.1" doc:"Who says so with remote."`
	JaegerSamplerPort              int     `key:"jaeger-sampler-port" min:"1" max:"65535" default:"5778" doc:"On which port."`
	JaegerTraceContextHeaderName   string  `key:"jaeger-trace-context-header-name" kind:"header" default:"uber-trace-id" doc:"Header that carries a trace."`
	JaegerDebugHeader              string  `key:"jaeger-debug-header" kind:"header" default:"uber-debug-id" doc:"Header that has a request traced."`
	JaegerBaggageHeader            string  `key:"jaeger-baggage-header" kind:"header" default:"jaeger-baggage" doc:"Header that adds to a trace."`
	JaegerTraceBaggageHeaderPrefix string  `key:"jaeger-trace-baggage-header-prefix" kind:"header" default:"uberctx-" doc:"What begins the names of headers that carry what was added."`
	DatadogCollectorHost           string  `key:"datadog-collector-host" kind:"word" default:"" doc:"Host of Datadog's agent."`
	DatadogCollectorPort           int     `key:"datadog-collector-port" min:"1" max:"65535" default:"8126" doc:"Its port."`
	DatadogServiceName             string  `key:"datadog-service-name" kind:"quotable" default:"nginx" doc:"Name of the service in spans."`
	DatadogEnvironment             string  `key:"datadog-environment" kind:"quotable" default:"prod" doc:"Environment in spans."`
	DatadogOperationNameOverride   string  `key:"datadog-operation-name-override" kind:"quotable" default:"nginx.handle" doc:"Name of the spans."`
	DatadogSampleRate              float64 `key:"datadog-sample-rate" max:"1" default:"1" doc:"Which part of the requests is traced."`

	// TCP and UDP services.
	ProxyStreamTimeout             string `key:"proxy-stream-timeout" kind:"time" default:"600s" doc:"How long a TCP connection or UDP session may be idle."`
	ProxyStreamNextUpstream        bool   `key:"proxy-stream-next-upstream" default:"true" doc:"Try the next pod when a connection cannot be made."`
	ProxyStreamNextUpstreamTimeout string `key:"proxy-stream-next-upstream-timeout" kind:"time" default:"600s" doc:"How long that may be tried."`
	ProxyStreamNextUpstreamTries   int    `key:"proxy-stream-next-upstream-tries" default:"3" doc:"Pods tried at most; 0 is no limit."`
	ProxyStreamResponses           int    `key:"proxy-stream-responses" default:"1" doc:"Datagrams a pod sends in answer to one of a client; a UDP session ends with the last."`
	DisableStreamAccessLog         bool   `key:"disable-stream-access-log" default:"false" doc:"No access log of TCP and UDP."`
	StreamAccessLogPath            string `key:"stream-access-log-path" kind:"word" default:"" doc:"Goes before access-log-path for TCP and UDP."`
	LogFormatStream                string `key:"log-format-stream" kind:"quoted" default:"[$remote_addr] [$time_local] $protocol $status $bytes_sent $bytes_received $session_time" doc:"Format of the access log of TCP and UDP."`
	StreamSnippet                  string `key:"stream-snippet" default:"" doc:"Put into the stream block."`

	// Annotations: which are taken.
	AnnotationsRiskLevel         string   `key:"annotations-risk-level" default:"High" doc:"Highest risk of annotations that are accepted: Low, Medium, High or Critical, in any letter case; any other value means Low."`
	AnnotationValueWordBlocklist []string `key:"annotation-value-word-blocklist" default:"" doc:"Words that no annotation may have."`
	AllowSnippetAnnotations      bool     `key:"allow-snippet-annotations" default:"false" doc:"Take the annotations that put text into nginx.conf; the risk level must be Critical, too."`
	AllowCrossNamespaceResources bool     `key:"allow-cross-namespace-resources" default:"false" doc:"Annotations may name Secrets and ConfigMaps of other namespaces."`
	StrictValidatePathType       bool     `key:"strict-validate-path-type" default:"true" doc:"Admission takes only plain characters in Exact and Prefix paths."`
	GlobalAllowedResponseHeaders []string `key:"global-allowed-response-headers" kind:"header" default:"" doc:"Headers that custom-headers may send."`

	// Our own servers, Lua, and text put in as it is.
	NginxStatusIpv4Whitelist []string       `key:"nginx-status-ipv4-whitelist" kind:"cidr" default:"127.0.0.1" doc:"Who may read /nginx_status over IPv4."`
	NginxStatusIpv6Whitelist []string       `key:"nginx-status-ipv6-whitelist" kind:"cidr" default:"::1" doc:"Who may read /nginx_status over IPv6."`
	LuaSharedDicts           map[string]int `key:"lua-shared-dicts" kind:"dicts" default:"configuration_data: 20M, certificate_data: 20M, certificate_servers: 5M, ocsp_response_cache: 5M, balancer_ewma: 10M, balancer_ewma_last_touched_at: 10M, balancer_ewma_locks: 1M" doc:"Sizes of Lua's shared dictionaries, over the defaults; a plain number is in MB."`
	MainSnippet              string         `key:"main-snippet" default:"" doc:"Put into nginx.conf's main block."`
	HTTPSnippet              string         `key:"http-snippet" default:"" doc:"Put into the http block."`
	ServerSnippet            string         `key:"server-snippet" default:"" doc:"Put into every server."`
	LocationSnippet          string         `key:"location-snippet" default:"" doc:"Put into every location."`

	// Declared by ingress-nginx and read by nothing; they are taken and do nothing.
	UpstreamHashBy           string `key:"upstream-hash-by" default:"" doc:"No effect, as in ingress-nginx; the annotation of that name has one."`
	UpstreamHashBySubset     string `key:"upstream-hash-by-subset" default:"" doc:"No effect, as in ingress-nginx; the annotation of that name has one."`
	UpstreamHashBySubsetSize string `key:"upstream-hash-by-subset-size" default:"" doc:"No effect, as in ingress-nginx; the annotation of that name has one."`
	AppRoot                  string `key:"app-root" default:"" doc:"No effect, as in ingress-nginx; the annotation of that name has one."`
}
