package render_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
)

// dataModel lists the names that a template of ingress-nginx may use, by the type that contains
// them.
var dataModel = map[string]string{
	"root": `Cfg Servers Backends TCPBackends UDPBackends ProxySetHeaders AddHeaders RedirectServers ListenPorts BacklogSize StatusPort
		StreamPort HealthzURI PID StatusPath IsIPV6Enabled EnableMetrics NginxStatusIpv4Whitelist NginxStatusIpv6Whitelist
		MaxmindEditionFiles StreamSnippets HTTP HTTPS Health Default SSLProxy From To`,
	"flags of .Cfg": `AllowBackendServerHeader ComputeFullForwardedFor DisableAccessLog DisableHTTPAccessLog DisableStreamAccessLog
		DisableIpv6DNS DisableProxyInterceptErrors EnableAioWrite EnableAuthAccessLog EnableBrotli EnableModsecurity EnableMultiAccept
		EnableOpentelemetry EnableOWASPCoreRules EnableRealIP EnableSyslog EnableUnderscoresInHeaders GenerateRequestID
		IgnoreInvalidHeaders LogFormatEscapeJSON LogFormatEscapeNone OpentelemetryTrustIncomingSpan ProxyAddOriginalURIHeader
		ProxyStreamNextUpstream RelativeRedirects RetryNonIdempotent ReusePort ShowServerTokens SSLEarlyData SSLRejectHandshake
		SSLSessionCache SSLSessionTickets UseForwardedHeaders UseGeoIP2 UseGzip UseHTTP2 UseProxyProtocol`,
	"numbers of .Cfg": `BrotliLevel BrotliMinLength ClientBodyTimeout ClientHeaderTimeout GeoIP2AutoReloadMinutes GRPCBufferSizeKb
		GzipLevel GzipMinLength HTTP2MaxConcurrentStreams HTTP2MaxRequests KeepAlive KeepAliveRequests
		LimitConnStatusCode LimitReqStatusCode MapHashBucketSize MaxWorkerConnections MaxWorkerOpenFiles ProxyHeadersHashBucketSize
		ProxyHeadersHashMaxSize ProxyStreamNextUpstreamTries ProxyStreamResponses ServerNameHashBucketSize ServerNameHashMaxSize
		SyslogPort UpstreamKeepaliveConnections UpstreamKeepaliveRequests UpstreamKeepaliveTimeout VariablesHashBucketSize VariablesHashMaxSize`,
	"texts of .Cfg": `AccessLogParams AccessLogPath BrotliTypes Checksum ClientBodyBufferSize ClientHeaderBufferSize DefaultType
		ErrorLogLevel ErrorLogPath ForwardedForHeader ForwardedForProxyProtocolHeader ForwardedHostHeader GzipDisable GzipTypes
		HTTP2MaxFieldSize HTTP2MaxHeaderSize HTTPAccessLogPath HTTPSnippet LargeClientHeaderBuffers LimitConnZoneVariable
		LocationSnippet LogFormatStream LogFormatUpstream MainSnippet ModsecuritySnippet NoAuthLocations OpentelemetryConfig
		ProxyStreamNextUpstreamTimeout ProxyStreamTimeout ServerSnippet SSLBufferSize SSLCiphers SSLDHParam SSLECDHCurve
		SSLProtocols SSLSessionCacheSize SSLSessionTicketKey SSLSessionTimeout StreamAccessLogPath SyslogHost UpstreamKeepaliveTime
		WorkerCPUAffinity WorkerProcesses WorkerShutdownTimeout`,
	"lists of .Cfg": `BindAddressIpv4 BindAddressIpv6 BlockCIDRs BlockReferers BlockUserAgents DebugConnections HideHeaders
		ProxyRealIPCIDR SkipAccessLogURLs CustomHTTPErrors Resolver DefaultSSLCertificate PemFileName PemSHA GlobalExternalAuth`,
	"auth": `URL Host SigninURL SigninURLRedirectParam Method RequestRedirect AuthSnippet AuthCacheKey ResponseHeaders
		AuthCacheDuration ProxySetHeaders AlwaysSetCookie KeepaliveConnections KeepaliveRequests KeepaliveTimeout KeepaliveShareVars`,
	"servers": `Hostname AuthTLSError ServerSnippet SSLCiphers SSLPreferServerCiphers Aliases Locations CertificateAuth ProxySSL
		CAFileName CASHA CRLFileName CRLSHA VerifyClient ErrorPage MatchCN ValidationDepth PassCertToUpstream
		PemFileName Ciphers Protocols Verify ProxySSLName ProxySSLServerName VerifyDepth`,
	"locations": `Path IngressPath BackendProtocol ClientBodyBufferSize ConfigurationSnippet DefaultBackendUpstreamName Satisfy
		UpstreamVhost Denied DisableProxyInterceptErrors HTTP2PushPreload UsePortInRedirects CustomHTTPErrors Ingress Allowlist
		Denylist CIDR BasicDigestAuth Secured Type Realm File Connection Enabled Header CorsConfig CorsEnabled CorsAllowCredentials
		CorsAllowOrigin CorsAllowMethods CorsAllowHeaders CorsExposeHeaders CorsMaxAge CustomHeaders Headers ExternalAuth FastCGI Index
		Params Logs Access Rewrite Mirror Source RequestBody Opentelemetry Proxy BodySize BufferSize BusyBuffersSize CookieDomain
		CookiePath NextUpstream ProxyBuffering ProxyHTTPVersion ProxyMaxTempFileSize ProxyRedirectFrom ProxyRedirectTo RequestBuffering
		BuffersNumber ConnectTimeout NextUpstreamTimeout NextUpstreamTries ReadTimeout SendTimeout Redirect Code Relative AppRoot`,
	"streams": `Port Backend Name Namespace ProxyProtocol Decode Encode`,
	"functions": `empty escapeLiteralDollar quote buildLuaSharedDictionaries luaConfigurationRequestBodySize
		buildLocation sanitizeQuotedRegex enforceRegexModifier buildAuthLocation shouldApplyGlobalAuth shouldApplyAuthUpstream
		buildAuthUpstreamName buildAuthResponseHeaders buildAuthUpstreamLuaHeaders buildAuthProxySetHeaders extractHostPort
		changeHostPort buildAuthSignURL buildAuthSignURLLocation buildProxyPass buildNextUpstream filterRateLimits
		buildRateLimitZones buildRateLimit locationConfigForLua buildResolvers buildUpstreamName isLocationInLocationList
		isLocationAllowed isValidByteSize getIngressInformation serverConfig buildForwardedFor buildForwardedHost
		buildOpentelemetry buildOpentelemetryForLocation shouldLoadOpentelemetryModule shouldLoadModSecurityModule
		shouldLoadAuthDigestModule buildModSecurityForLocation buildMirrorLocations proxySetHeader buildCustomErrorDeps
		buildCustomErrorLocationsPerServer buildHTTPListener buildHTTPSListener buildServerName buildCorsOriginRegex
		hasPrefix trimSpace formatIP buildDenyVariable getenv contains split hasSuffix toUpper toLower`,
}

func foreign(t *testing.T) *render.Template {
	t.Helper()
	text, err := os.ReadFile("testdata/foreign.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	template, err := render.Parse("testdata/foreign.tmpl", text)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func TestTheForeignTemplateUsesTheWholeDataModel(t *testing.T) {
	text, err := os.ReadFile("testdata/foreign.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	for of, names := range dataModel {
		for _, name := range strings.Fields(names) {
			use := "." + name
			if of == "functions" {
				use = name + " "
			}
			if !strings.Contains(string(text), use) {
				t.Errorf("%s: %s is not used", of, use)
			}
		}
	}
}

// nginx accepts the output of a template written for ingress-nginx's image, for a model with all
// features.
func TestAForeignTemplate(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"use-gzip": "true", "use-forwarded-headers": "true", "use-http2": "false"})
	in.Template, in.Options.Stream = foreign(t), streamOf(program)
	for _, name := range []string{"http_set_misc", "http_headers_more_filter", "stream"} {
		files, err := program.Load(name)
		if err != nil {
			t.Skip(err)
		}
		in.Modules = append(in.Modules, files[len(files)-1])
	}
	borrow(t, in, "mime.types", "fastcgi_params")
	m := everything(in)
	taken(t, m, in, program)

	// The same with HTTP/2, which is a parameter of listen in older versions of nginx.
	in.Options.Config.UseHTTP2 = true
	taken(t, m, in, program)
}

// streamOf returns the program's support for TCP and UDP.
func streamOf(program *nginx.Nginx) options.Stream {
	if program.Has("stream_lua") {
		return options.LuaStream
	}
	return options.PlainStream
}

// borrow copies files of nginx's distribution.
func borrow(t *testing.T, in render.Input, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("/etc/nginx", name))
		if err != nil {
			t.Skip(err)
		}
		put(t, in, "/etc/nginx/"+name, text)
	}
}

// everything returns a model with all features except those that need a module or certificate that
// a machine may lack.
func everything(in render.Input) *model.Model {
	m := hosts(in, model.Endpoint{Address: "127.0.0.1", Port: "1"}, map[string]func(*model.Location){
		"auth.example": func(l *model.Location) {
			l.ExternalAuth = annotations.ExternalAuth{
				URL: "http://127.0.0.1:8080/check?x=$request_id", Host: "127.0.0.1", SigninURL: "https://login.example/?x=1",
				Method: "POST", ResponseHeaders: []string{"X-User", "X-Group"}, RequestRedirect: "https://web.example",
				AuthCacheKey: "$cookie_user", AuthCacheDuration: []string{"200 202 10m", "401 1m"}, AlwaysSetCookie: true,
				ProxySetHeaders: map[string]string{"X-Kind": "ingress"}, AuthSnippet: "proxy_set_header X-A b;",
			}
		},
		"kept.example": func(l *model.Location) {
			l.ExternalAuth = annotations.ExternalAuth{
				URL: "http://127.0.0.1:8080/check", Host: "127.0.0.1", KeepaliveConnections: 4, KeepaliveRequests: 100, KeepaliveTimeout: 60,
				KeepaliveShareVars: true, ResponseHeaders: []string{"X-User"},
			}
		},
		"basic.example": func(l *model.Location) {
			l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Secured: true, Realm: "a realm", File: in.Options.Path("/etc/ingress-controller/auth/a.passwd")}
			l.Satisfy = "any"
			l.Denylist.CIDR, l.Allowlist.CIDR = []string{"10.0.0.1/32"}, []string{"10.0.0.0/8", "::1/128"}
		},
		"limited.example": func(l *model.Location) {
			l.RateLimit = annotations.RateLimit{ID: "bGlt", Name: "demo_web", LimitRate: 1, LimitRateAfter: 2, Allowlist: []string{"127.0.0.2/32"},
				Connections: annotations.Zone{Name: "z_conn", Limit: 1, SharedSize: 5},
				RPS:         annotations.Zone{Name: "z_rps", Limit: 2, Burst: 10, SharedSize: 5},
				RPM:         annotations.Zone{Name: "z_rpm", Limit: 3, Burst: 15, SharedSize: 5}}
		},
		"cors.example": func(l *model.Location) {
			l.CorsConfig = annotations.CorsConfig{CorsEnabled: true, CorsAllowOrigin: []string{"https://*.a.example", "http://b.example:8080"},
				CorsAllowMethods: "GET, PUT", CorsAllowHeaders: "X-A, X-B", CorsAllowCredentials: true, CorsExposeHeaders: "X-C", CorsMaxAge: 60}
		},
		"open.example": func(l *model.Location) {
			l.CorsConfig = annotations.CorsConfig{CorsEnabled: true, CorsAllowOrigin: []string{"*"}, CorsAllowMethods: "GET", CorsAllowHeaders: "X-A"}
		},
		"errors.example": func(l *model.Location) {
			l.CustomHTTPErrors, l.DefaultBackendUpstreamName = []int{404, 503}, "custom-default-backend-demo-errors"
		},
		"rewritten.example": func(l *model.Location) {
			l.Path, l.Rewrite.Target, l.XForwardedPrefix = "/a(/|$)(.*)", "/$2", "/a"
		},
		"moved.example": func(l *model.Location) {
			l.Redirect = annotations.Redirect{URL: "https://new.example", Code: 301, Relative: true}
		},
		"root.example":   func(l *model.Location) { l.Rewrite.AppRoot = "/app" },
		"denied.example": func(l *model.Location) { l.Denied = new("some\n} reason") },
		"grpc.example":   func(l *model.Location) { l.BackendProtocol = "GRPC" },
		"https.example":  func(l *model.Location) { l.BackendProtocol = "HTTPS" },
		"auto.example":   func(l *model.Location) { l.BackendProtocol = "AUTO_HTTP" },
		"fcgi.example": func(l *model.Location) {
			l.BackendProtocol = "FCGI"
			l.FastCGI = annotations.FastCGI{Index: "index.php", Params: map[string]string{"SCRIPT_FILENAME": "/srv$fastcgi_script_name"}}
		},
		"mirror.example": func(l *model.Location) {
			l.Mirror = annotations.Mirror{Source: "_mirror-uid", RequestBody: "off", Target: "http://127.0.0.1:1$request_uri", Host: "m.example"}
		},
		"other.example": func(l *model.Location) {
			l.UpstreamVhost, l.Connection = "inner.example", annotations.Connection{Enabled: true, Header: "close"}
			l.ConfigurationSnippet, l.ClientBodyBufferSize = "more_set_headers 'X-A: b';", "16k"
			l.CustomHeaders.Headers = map[string]string{"X-B": "c"}
			l.HTTP2PushPreload, l.Logs = true, annotations.Logs{Rewrite: true}
			l.Proxy.BusyBuffersSize, l.Proxy.ProxyRedirectFrom, l.Proxy.ProxyRedirectTo = "8k", "http://a", "https://b"
		},
		"*.wild.example": nil,
	})
	m.Servers[1].Aliases = []string{"known.test", `~^www\d+\.known\.test$`}
	m.Servers[1].ServerSnippet = "server_tokens on;"
	m.Servers[1].AuthTLSError = "no CA"
	addBackends(m, &model.Backend{Name: "custom-default-backend-demo-errors"})
	m.RedirectServers = []model.Redirect{{From: "www.known.example", To: "known.example"}}
	m.AddHeaders = map[string]string{"X-All": "all"}
	m.ProxySetHeaders = map[string]string{"X-To-Pods": "$host"}
	port := func(n int, of corev1.Protocol, proxy model.ProxyProtocol) model.L4Service {
		return model.L4Service{Port: n, Backend: model.L4Backend{Namespace: "demo", Name: "l4", Port: intstr.FromInt(80), Protocol: of, ProxyProtocol: proxy}}
	}
	m.TCPBackends = []model.L4Service{port(in.Options.Ports.Stream, corev1.ProtocolTCP, model.ProxyProtocol{Decode: true, Encode: true})}
	m.UDPBackends = []model.L4Service{port(in.Options.Ports.Stream, corev1.ProtocolUDP, model.ProxyProtocol{})}
	m.StreamSnippets = []string{"map $remote_addr $nothing {\ndefault 1;\n}"}
	return m
}

// Lua code that is not ours does not add the folder of substitutes to the search path itself.
func TestLuaFallbackIsLastInTheSearchPath(t *testing.T) {
	const folder = "/srv/a/etc/nginx/lua/fallback/?.lua"
	for text, want := range map[string]string{
		"": `lua_package_path "/srv/a/etc/nginx/lua/?.lua;;` + folder + `";`,
		`lua_package_path "/etc/nginx/lua/?.lua;;";`: `lua_package_path "/srv/a/etc/nginx/lua/?.lua;;` + folder + `";`,
		`lua_package_path '/a/?.lua' ; # theirs`:     `lua_package_path '/a/?.lua;` + folder + `'; # theirs`,
		`lua_package_path /a/?.lua;`:                 `lua_package_path /a/?.lua;` + folder + `;`,
	} {
		got := conf(t, func(in *render.Input) {
			in.Options.ForeignLua = true
			var err error
			if in.Template, err = render.Parse("t", []byte(text)); err != nil {
				t.Fatal(err)
			}
			if text == "" {
				in.Template = nil
			}
		})
		if !strings.Contains(got, want) {
			t.Errorf("%s: got\n%.300s\nwant %s", text, got, want)
		}
	}
}

func TestAForeignTemplateFitsIntoItsRoot(t *testing.T) {
	in := input()
	in.Options.Stream = options.LuaStream
	in.Modules, in.ModulesPath = []string{"/usr/lib/nginx/modules/ngx_http_lua_module.so", "/usr/lib/nginx/modules/ngx_stream_module.so"}, "/usr/lib/nginx/modules"
	var err error
	in.Template, err = render.Parse("t", []byte(`load_module /etc/nginx/modules/ngx_stream_module.so;
pid {{ .PID }};
error_log /var/log/nginx/error.log;
include /etc/nginx/*.types; # of /etc/nginx
server {
http2 on;
lua_package_path "/etc/nginx/lua/?.lua;/etc/nginx/lua/vendor/?.lua;;";
location /etc/nginx/ {
set $p "/tmp/nginx";
root /data/etc/nginx;
alias /etc/nginx-x;
access_log unix:/tmp/nginx/a.socket;
}
}
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := render.Render(&model.Model{}, in)
	if err != nil {
		t.Fatal(err)
	}
	want := `load_module "/usr/lib/nginx/modules/ngx_http_lua_module.so";
load_module /usr/lib/nginx/modules/ngx_stream_module.so;
pid /srv/a/tmp/nginx/nginx.pid;
error_log /srv/a/var/log/nginx/error.log;
include /srv/a/etc/nginx/*.types; # of /srv/a/etc/nginx
server {
	lua_package_path "/srv/a/etc/nginx/lua/?.lua;/srv/a/etc/nginx/lua/vendor/?.lua;;";
	location /etc/nginx/ {
		set $p "/tmp/nginx";
		root /data/etc/nginx;
		alias /etc/nginx-x;
		access_log unix:/srv/a/tmp/nginx/a.socket;
	}
}
`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Our template, written out and parsed as a user's, gives the same result for a model with all
// features.
func TestOurTemplateAsAUserTemplate(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*render.Input){
		"dynamic":           func(*render.Input) {},
		"by reloads":        func(in *render.Input) { in.Options.DynamicConfiguration = false },
		"a newer nginx":     func(in *render.Input) { in.HTTP2Directive, in.IPv6 = true, true },
		"in its own folder": func(in *render.Input) { in.Options.Root = "" },
	} {
		t.Run(name, func(t *testing.T) {
			in, program := here(t, map[string]string{"use-gzip": "true", "use-forwarded-headers": "true"})
			in.Options.Stream = streamOf(program)
			change(&in)
			m := everything(in)
			want, err := render.Render(m, in)
			if err != nil {
				t.Fatal(err)
			}
			if in.Template, err = render.ParseFolder("/etc/my", render.Files()); err != nil {
				t.Fatal(err)
			}
			got, err := render.Render(m, in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPositionFindsTheMostSimilarLine(t *testing.T) {
	template, err := render.ParseFolder("my", map[string]string{
		"nginx.tmpl": "events {}\nhttp {\n  {{ template \"a.tmpl\" . }}\n  keepalive_timeout 5s;\n}\n",
		"a.tmpl":     "listen {{ .A }};\nlisten 127.0.0.1:{{ .B }};\nlisten 127.0.0.1:80;\n{{ print `x;` }}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"  keepalive_timeout 5s;": "my/nginx.tmpl:4",
		"listen 8080;":            "my/a.tmpl:1",
		"listen 127.0.0.1:8080;":  "my/a.tmpl:2",
		"listen 127.0.0.1:80;":    "my/a.tmpl:3",
		"keepalive_timeout":       "my/nginx.tmpl:4",
		"x;":                      "my",
	} {
		if got := template.Position(line); got != want {
			t.Errorf("%q is at %s, want %s", line, got, want)
		}
	}
}
