package render

import (
	"cmp"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// root is the dot of the template. Except for the last group, its field names are ingress-nginx's.
type root struct {
	Cfg             *cfg
	Backends        model.Backends
	Servers         []*model.Server
	RedirectServers []model.Redirect
	TCPBackends     []model.L4Service
	UDPBackends     []model.L4Service
	StreamSnippets  []string

	PassthroughBackends []model.PassthroughBackend
	PublishService      *corev1.Service
	MonitorMaxBatchSize int

	ProxySetHeaders map[string]string // added to requests to pods
	AddHeaders      map[string]string // added to responses to clients

	ListenPorts *listenPorts
	BacklogSize int
	StatusPort  int
	StreamPort  int
	HealthzURI  string
	StatusPath  string
	PID         string

	IsIPV6Enabled            bool
	IsSSLPassthroughEnabled  bool
	EnableMetrics            bool
	NginxStatusIpv4Whitelist []string
	NginxStatusIpv6Whitelist []string
	MaxmindEditionFiles      *[]string

	DynamicStream bool // Lua receives the endpoints of TCP and UDP services
	StreamRealIP  bool

	Modules              []string
	HTTP2Directive       bool
	DynamicConfiguration bool

	loads   []string // the modules that are available and needed
	texts   *texts
	options options.Options
	in      Input
}

// cfg is the ConfigMap and values derived from it.
type cfg struct {
	options.Config
	DefaultSSLCertificate *model.SSLCert
	Resolver              []string
	GlobalExternalAuth    annotations.ExternalAuth
	// Checksum is empty, because equal configurations must have equal bytes.
	Checksum string

	// These lists have the form that templates expect.
	BindAddressIpv4        []string
	BindAddressIpv6        []string // in brackets
	NoAuthLocations        string   // separated by commas
	NoTLSRedirectLocations string   // separated by commas
}

// The following methods have the names that templates for ingress-nginx read.

// LoadBalancing returns the load-balancing algorithm; empty: round_robin.
func (c *cfg) LoadBalancing() string { return c.LoadBalance }

// WorkerSerialReloads reports whether a reload waits until the workers of the previous one have
// ended.
func (c *cfg) WorkerSerialReloads() bool { return c.EnableSerialReloads }

// AllowedResponseHeaders returns the headers that the annotation custom-headers may set.
func (c *cfg) AllowedResponseHeaders() []string { return c.GlobalAllowedResponseHeaders }

type listenPorts struct {
	HTTP, HTTPS, Health, Default, SSLProxy int
}

// Path returns the local path of a file in ingress-nginx's image.
func (r *root) Path(file string) string { return r.options.Path(file) }

// LuaFallback returns the end of Lua's search path. It is empty for our Lua code, which completes
// the path itself.
func (r *root) LuaFallback() string {
	if !r.options.ForeignLua {
		return ""
	}
	return r.options.LuaFallback()
}

// LuaLoadsDefaultCertificate reports whether Lua loads the default certificate. Other Lua code than
// ours expects that nginx does.
func (r *root) LuaLoadsDefaultCertificate() bool { return !r.options.ForeignLua }

// MIMETypes returns the path of nginx's mime.types; empty if there is none.
func (r *root) MIMETypes() string { return r.in.MIMETypes }

// User returns the value of our user directive. It is empty if main-snippet has its own, because
// nginx accepts only one.
func (r *root) User() string {
	if ownUser.MatchString(r.Cfg.MainSnippet) {
		return ""
	}
	return r.in.User
}

var ownUser = regexp.MustCompile(`(?m)(^|;)\s*user\s`)

// Syslog returns the address of the syslog server.
func (r *root) Syslog() string {
	return net.JoinHostPort(strings.Trim(r.Cfg.SyslogHost, "[]"), strconv.Itoa(r.Cfg.SyslogPort))
}

// CachesAuth reports whether responses of external authentication are cached.
func (r *root) CachesAuth() bool {
	return r.Cfg.GlobalExternalAuth.AuthCacheKey != "" ||
		anyLocation(r.Servers, func(l *model.Location) bool { return l.ExternalAuth.AuthCacheKey != "" })
}

// AuthUpstreams returns the locations whose external authentication uses keepalive connections, one
// per upstream.
func (r *root) AuthUpstreams() []*located {
	var found []*located
	for _, server := range r.Servers {
		if slices.ContainsFunc(server.Locations, func(l *model.Location) bool { return shouldApplyAuthUpstream(l, r.Cfg) }) {
			found = append(found, serverConfig(r, server).uniqueBy(func(l *located) string { return l.AuthNames.Upstream })...)
		}
	}
	return found
}

// Has reports whether nginx has a module.
func (r *root) Has(module string) bool { return r.in.has(module) }

// Loads reports whether a module is available and needed, so its directives can be used.
func (r *root) Loads(module string) bool { return slices.Contains(r.loads, module) }

func newRoot(m *model.Model, in Input) *root {
	ports := in.Options.Ports
	config := newCfg(m, in)
	files, loads := modules(m.Servers, config, in)
	return &root{
		Cfg:             config,
		Backends:        m.Backends.Slice(),
		Servers:         m.Servers,
		RedirectServers: m.RedirectServers,
		TCPBackends:     m.TCPBackends,
		UDPBackends:     m.UDPBackends,
		StreamSnippets:  m.StreamSnippets,

		PassthroughBackends: m.PassthroughBackends,
		PublishService:      m.PublishService,
		MonitorMaxBatchSize: in.Options.MonitorMaxBatchSize(),

		ProxySetHeaders: m.ProxySetHeaders,
		AddHeaders:      m.AddHeaders,

		ListenPorts: &listenPorts{HTTP: ports.HTTP, HTTPS: ports.HTTPS, Health: ports.Health, Default: ports.Default, SSLProxy: ports.SSLProxy},
		BacklogSize: max(in.Backlog, leastBacklog),
		StatusPort:  ports.Status,
		StreamPort:  ports.Stream,
		HealthzURI:  in.Options.Healthz(),
		StatusPath:  "/nginx_status",
		PID:         in.Options.Path("/tmp/nginx/nginx.pid"),

		IsIPV6Enabled:            in.IPv6 && !config.DisableIpv6,
		IsSSLPassthroughEnabled:  in.Options.EnableSSLPassthrough,
		EnableMetrics:            in.Options.EnableMetrics,
		NginxStatusIpv4Whitelist: config.NginxStatusIpv4Whitelist,
		NginxStatusIpv6Whitelist: config.NginxStatusIpv6Whitelist,
		MaxmindEditionFiles:      &in.GeoIPFiles,

		DynamicStream: in.Options.DynamicStream(),
		StreamRealIP:  in.StreamRealIP,

		Modules:              files,
		HTTP2Directive:       in.HTTP2Directive,
		DynamicConfiguration: in.Options.DynamicConfiguration,

		loads:   loads,
		texts:   new(texts),
		options: in.Options,
		in:      in,
	}
}

func newCfg(m *model.Model, in Input) *cfg {
	config := sized(in.Options.Config, m, in)
	config.SSLDHParam = m.SSLDHParam // templates read the file's path
	in.globalFirewall(&config)
	c := &cfg{
		Config:                 config,
		DefaultSSLCertificate:  cmp.Or(m.DefaultSSLCertificate, new(model.SSLCert)),
		Resolver:               in.Resolvers,
		BindAddressIpv4:        config.BindAddressIpv4(),
		BindAddressIpv6:        config.BindAddressIpv6(),
		NoAuthLocations:        strings.Join(config.NoAuthLocations, ","),
		NoTLSRedirectLocations: strings.Join(config.NoTLSRedirectLocations, ","),
	}
	c.GlobalExternalAuth = globalAuth(config)
	return c
}

// globalAuth returns the authentication service for locations that have none of their own.
func globalAuth(config options.Config) annotations.ExternalAuth {
	if config.GlobalAuthURL == options.Unanswered {
		return annotations.ExternalAuth{} // the model denies these requests
	}
	host, _ := options.AuthHost(config.GlobalAuthURL) // package options has validated the URL
	return annotations.ExternalAuth{
		URL:                    options.WithPath(config.GlobalAuthURL),
		Host:                   host,
		SigninURL:              config.GlobalAuthSignin,
		SigninURLRedirectParam: config.GlobalAuthSigninRedirectParam,
		Method:                 config.GlobalAuthMethod,
		ResponseHeaders:        config.GlobalAuthResponseHeaders,
		RequestRedirect:        config.GlobalAuthRequestRedirect,
		AuthSnippet:            config.GlobalAuthSnippet,
		AuthCacheKey:           config.GlobalAuthCacheKey,
		AuthCacheDuration:      config.GlobalAuthCacheDuration,
		AlwaysSetCookie:        config.GlobalAuthAlwaysSetCookie,
	}
}
