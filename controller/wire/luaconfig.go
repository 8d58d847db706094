package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// luaConfig is the content of cfg.json. The ports and the max age are strings there.
type luaConfig struct {
	EnableMetrics           bool     `json:"enable_metrics"`
	ListenPorts             luaPorts `json:"listen_ports"`
	UseForwardedHeaders     bool     `json:"use_forwarded_headers"`
	UseProxyProtocol        bool     `json:"use_proxy_protocol"`
	IsSSLPassthroughEnabled bool     `json:"is_ssl_passthrough_enabled"`
	HTTPRedirectCode        int      `json:"http_redirect_code"`
	EnableOCSP              bool     `json:"enable_ocsp"`
	MonitorBatchMaxSize     int      `json:"monitor_batch_max_size"`
	HSTS                    bool     `json:"hsts"`
	HSTSMaxAge              string   `json:"hsts_max_age"`
	HSTSIncludeSubdomains   bool     `json:"hsts_include_subdomains"`
	HSTSPreload             bool     `json:"hsts_preload"`

	// Not in ingress-nginx: the protected ports, to which Lua does not connect.
	ProtectedPorts []int `json:"closed_ports"`

	// Not in ingress-nginx: the file of the default certificate, which Lua loads.
	DefaultCertificate string `json:"default_certificate,omitempty"`

	// Not in ingress-nginx: these fields are present only if the features are enabled.
	ReportWorkers bool   `json:"report_workers,omitempty"`
	MetricsSocket string `json:"metrics_socket,omitempty"`
	Announcements string `json:"announcements,omitempty"` // where the controller announces changes
	BackendsDelta bool   `json:"backends_delta,omitempty"`
}

type luaPorts struct {
	HTTPS      string `json:"https"`
	StatusPort string `json:"status_port"`
	SSLProxy   string `json:"ssl_proxy"`
}

// LuaConfig returns the content of lua/cfg.json, which Lua reads when nginx starts or reloads.
func LuaConfig(m *model.Model, opts options.Options) ([]byte, error) {
	c := opts.Config
	text, err := json.MarshalIndent(luaConfig{
		EnableMetrics: opts.EnableMetrics,
		ListenPorts: luaPorts{
			HTTPS:      strconv.Itoa(opts.Ports.HTTPS),
			StatusPort: strconv.Itoa(opts.Ports.Status),
			SSLProxy:   strconv.Itoa(opts.Ports.SSLProxy),
		},
		IsSSLPassthroughEnabled: opts.EnableSSLPassthrough,
		UseForwardedHeaders:     c.UseForwardedHeaders,
		UseProxyProtocol:        c.UseProxyProtocol,
		EnableOCSP:              c.EnableOCSP,
		HTTPRedirectCode:        c.HTTPRedirectCode,
		MonitorBatchMaxSize:     opts.MonitorMaxBatchSize(),
		HSTS:                    c.HSTS,
		HSTSMaxAge:              strconv.Itoa(c.HSTSMaxAge),
		HSTSIncludeSubdomains:   c.HSTSIncludeSubdomains,
		HSTSPreload:             c.HSTSPreload,
		ProtectedPorts:          opts.Ports.Protected(),
		DefaultCertificate:      cmp.Or(m.DefaultSSLCertificate, new(model.SSLCert)).PemFileName,
		ReportWorkers:           opts.ReportWorkers,
		MetricsSocket:           metricsSocket(opts),
		Announcements:           announcements(opts),
		BackendsDelta:           opts.BackendsDelta,
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding cfg.json: %w", err)
	}
	return append(text, '\n'), nil
}

// metricsSocket returns the socket to which Lua sends records of requests, or "" for Lua's default.
func metricsSocket(opts options.Options) string {
	if path := opts.Path(options.MetricsSocket); opts.EnableMetrics && path != options.MetricsSocket {
		return "unix:" + path
	}
	return ""
}

// announcements returns the socket on which workers receive announcements, or "" if they only poll.
func announcements(opts options.Options) string {
	if !opts.BackendsPush {
		return ""
	}
	return "unix:" + opts.Path(options.AnnouncementsSocket)
}
