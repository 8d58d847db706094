package render

import (
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// root is the dot of the template. Its field names are ingress-nginx's, but
// for the last group.
type root struct {
	Cfg         cfg
	Backends    model.Backends
	Servers     []*model.Server
	ListenPorts *listenPorts
	BacklogSize int
	StatusPort  int
	StreamPort  int
	HealthzURI  string
	StatusPath  string
	PID         string

	IsIPV6Enabled            bool
	EnableMetrics            bool
	NginxStatusIpv4Whitelist []string
	NginxStatusIpv6Whitelist []string

	TCPBackends    []model.L4Service
	UDPBackends    []model.L4Service
	StreamSnippets []string
	DynamicStream  bool // Lua is told the endpoints of TCP and UDP services
	StreamRealIP   bool

	Modules              []string
	HTTP2Directive       bool
	DynamicConfiguration bool

	options options.Options
}

// cfg is the ConfigMap with what is worked out from it.
type cfg struct {
	options.Config
	DefaultSSLCertificate *model.SSLCert
	Resolver              []string
}

type listenPorts struct {
	HTTP, HTTPS, Health, Default int
}

// Path is where a file of ingress-nginx's image is here.
func (r root) Path(file string) string { return r.options.Path(file) }

func newRoot(m *model.Model, in Input) root {
	config, ports := in.Options.Config, in.Options.Ports
	return root{
		Cfg: cfg{
			Config:                sized(config, m.Servers, in),
			DefaultSSLCertificate: &m.DefaultSSLCertificate,
			Resolver:              in.Resolvers,
		},
		Backends:    m.Backends,
		Servers:     m.Servers,
		ListenPorts: &listenPorts{HTTP: ports.HTTP, HTTPS: ports.HTTPS, Health: ports.Health, Default: ports.Default},
		BacklogSize: max(in.Backlog, leastBacklog),
		StatusPort:  ports.Status,
		StreamPort:  ports.Stream,
		HealthzURI:  "/healthz",
		StatusPath:  "/nginx_status",
		PID:         in.Options.Path("/tmp/nginx/nginx.pid"),

		IsIPV6Enabled:            in.IPv6 && !config.DisableIpv6,
		EnableMetrics:            in.Options.EnableMetrics,
		NginxStatusIpv4Whitelist: config.NginxStatusIpv4Whitelist,
		NginxStatusIpv6Whitelist: config.NginxStatusIpv6Whitelist,

		TCPBackends:    m.TCPBackends,
		UDPBackends:    m.UDPBackends,
		StreamSnippets: m.StreamSnippets,
		DynamicStream:  in.Options.DynamicStream(),
		StreamRealIP:   in.StreamRealIP,

		Modules:              in.Modules,
		HTTP2Directive:       in.HTTP2Directive,
		DynamicConfiguration: in.Options.DynamicConfiguration,

		options: in.Options,
	}
}
