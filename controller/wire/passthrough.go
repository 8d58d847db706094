package wire

import (
	"encoding/json"
	"fmt"
	"time"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// Passthrough is the configuration of the controller's own TLS listener.
type Passthrough struct {
	Addresses     []string          `json:"addresses"`               // "host:port" to listen on
	ProxyProtocol bool              `json:"proxyProtocol"`           // clients send the PROXY protocol
	HeaderTimeout time.Duration     `json:"headerTimeout,omitempty"` // timeout for its header
	Nginx         string            `json:"nginx"`                   // "host:port" for all other hosts
	Hosts         map[string]string `json:"hosts"`                   // host name to "host:port"
}

// PassthroughOf returns a Passthrough as JSON, or nil if nginx itself listens.
func PassthroughOf(m *model.Model, opts options.Options) ([]byte, error) {
	if !opts.EnableSSLPassthrough {
		return nil, nil
	}
	p := Passthrough{
		ProxyProtocol: opts.Config.UseProxyProtocol,
		Nginx:         fmt.Sprintf("127.0.0.1:%d", opts.Ports.SSLProxy),
		Hosts:         map[string]string{},
	}
	if p.ProxyProtocol {
		timeout, err := time.ParseDuration(opts.Config.ProxyProtocolHeaderTimeout)
		if err != nil {
			return nil, fmt.Errorf("proxy-protocol-header-timeout: %w", err) // package options has validated it
		}
		p.HeaderTimeout = timeout
	}
	for _, address := range listenAddresses(opts.Config) {
		p.Addresses = append(p.Addresses, fmt.Sprintf("%s:%d", address, opts.Ports.HTTPS))
	}
	for _, backend := range m.PassthroughBackends {
		p.Hosts[backend.Hostname] = backend.Address
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encoding the hosts of passthrough: %w", err)
	}
	return text, nil
}

// listenAddresses returns the addresses that nginx would listen on. An empty address means all
// addresses of both families.
func listenAddresses(c options.Config) []string {
	switch {
	case len(c.BindAddress) == 0 && c.DisableIpv6:
		return []string{"0.0.0.0"}
	case len(c.BindAddress) == 0:
		return []string{""}
	case c.DisableIpv6:
		return c.BindAddressIpv4()
	default:
		return append(c.BindAddressIpv4(), c.BindAddressIpv6()...)
	}
}
