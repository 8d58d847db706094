package render

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// proxied is the dot of the templates that pass requests to the pods of a location. It is
// comparable, and most locations have an equal one; see once.
type proxied struct {
	audience
	Module        string // the prefix of the directives for requests to pods
	Proxy         annotations.Proxy
	Connection    annotations.Connection
	UpstreamVhost string
	// HasNoEndpoints reports whether the service in the default-backend annotation answers all
	// requests, because the location's own service has no endpoints.
	HasNoEndpoints bool
	FastCGI        *annotations.FastCGI // nil for pods that speak HTTP
}

func proxiedOf(r *root, s *model.Server, l *model.Location) proxied {
	p := proxied{
		audience:       audience{All: r, Certificates: s.CertificateAuth},
		Proxy:          l.Proxy,
		Connection:     l.Connection,
		UpstreamVhost:  l.UpstreamVhost,
		HasNoEndpoints: l.Backend == l.DefaultBackendUpstreamName && l.Backend != model.DefaultBackendName,
	}
	switch protocolOf(l) {
	case "GRPC", "GRPCS":
		p.Module, p.SetHeader = "grpc", "grpc_set_header"
	case "FCGI":
		p.Module, p.SetHeader, p.FastCGI = "fastcgi", fastCGIParameter, &l.FastCGI
	default:
		p.Module, p.SetHeader = "proxy", "proxy_set_header"
	}
	return p
}

// protocolOf returns the protocol of the location's pods in upper case.
func protocolOf(l *model.Location) string {
	if l.Backend == model.DefaultBackendName {
		return "HTTP"
	}
	return cmp.Or(strings.ToUpper(l.BackendProtocol), "HTTP")
}

// StreamsBody reports whether nginx forwards request bodies while it receives them. For gRPC it
// always does.
func (p proxied) StreamsBody() bool {
	return p.Module == "grpc" || p.Proxy.RequestBuffering == "off"
}

// NextUpstream returns the conditions under which nginx tries the next pod. FastCGI does not
// support http_502 and http_504.
func (p proxied) NextUpstream() string {
	conditions := strings.Fields(buildNextUpstream(p.Proxy.NextUpstream, p.All.Cfg.RetryNonIdempotent))
	if p.Module == "fastcgi" {
		conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "http_502" || c == "http_504" })
	}
	return strings.Join(conditions, " ")
}

// HideHeaders returns the pods' response headers that are hidden from clients.
func (p proxied) HideHeaders() []string {
	return slices.DeleteFunc(slices.Clone(p.All.Cfg.HideHeaders), func(name string) bool { return !fits(p.Module, name) })
}

// HeadersToPods returns the request headers from the ConfigMap's proxy-set-headers.
func (p proxied) HeadersToPods() map[string]string {
	headers := maps.Clone(p.All.ProxySetHeaders)
	maps.DeleteFunc(headers, func(name, _ string) bool { return !fits(p.SetHeader, name) })
	return headers
}

// fits reports whether a header's name fits into the module's hash tables. Those of the proxy
// module are always large enough; see sized.
func fits(directive, header string) bool {
	return strings.HasPrefix(directive, "proxy") || len(header) <= model.LongestHeader
}
