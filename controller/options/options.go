// Package options holds what the user asked of the controller as a whole: its
// ConfigMap and those flags that the pure stages need. It stands between those
// texts and the model, which sees typed values only. Its one rule: a bad value
// never stops us; it is a finding, and the default holds.
package options

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/tls"
)

// Options is the ConfigMap and the flags.
type Options struct {
	Config Config

	// DefaultBackendService answers what no ingress takes; empty is none.
	DefaultBackendService types.NamespacedName
	// TCPServices and UDPServices are the ConfigMaps that say which ports lead
	// to which services; empty is none.
	TCPServices, UDPServices types.NamespacedName
	// Stream is what nginx can do with those.
	Stream Stream

	// DynamicConfiguration sends endpoints to Lua. Without it they are rendered
	// into upstream blocks, and each change of theirs is a reload.
	DynamicConfiguration bool
	Ports                Ports
	// Root is put before the folders that ingress-nginx's image has; empty is
	// as in the image. See Path.
	Root string
	// ForeignTemplate says that a user's template is rendered, which may define
	// variables that ours does not have.
	ForeignTemplate bool
	// DefaultCertificate is served for hosts that have none of their own, unless
	// the Secret DefaultSSLCertificate has another; empty is no such Secret.
	DefaultCertificate    *tls.Pair
	DefaultSSLCertificate types.NamespacedName
	// EnableSSLPassthrough has the controller itself listen on Ports.HTTPS, so
	// that connections can go to pods as they are; nginx gets the others on
	// Ports.SSLProxy.
	EnableSSLPassthrough bool
	EnableMetrics        bool
	// MonitorBatchSize is how many records of requests a worker keeps for its
	// next sending at most; 0 is ingress-nginx's 10000.
	MonitorBatchSize int
	// ReportWorkers makes Lua tell, at /configuration/workers of the status
	// server, which configuration each worker serves.
	ReportWorkers bool
	// BackendsPush makes workers take over backends at once, not at the next poll.
	BackendsPush bool
	// BackendsDelta sends the backends that changed, not all.
	BackendsDelta bool

	// AnnotationsPrefix is what the keys of annotations begin with; empty is
	// ingress-nginx's.
	AnnotationsPrefix string
	// SkipAnnotationValidation takes values of annotations as they are.
	SkipAnnotationValidation bool

	// DisableExternalNames leaves services of type ExternalName without endpoints.
	DisableExternalNames bool
	// Zone is that of the controller's node: endpoints that are meant for other
	// zones are left out. Empty takes all.
	Zone string
}

// MetricsSocket is where nginx sends its records of requests; see Path.
const MetricsSocket = "/tmp/nginx/prometheus-nginx.socket"

// Ports are the TCP ports that nginx and the controller listen on.
type Ports struct {
	HTTP, HTTPS int
	Default     int // answers 404; the default backend when no service is named
	Status      int // nginx's own status and configuration server, on 127.0.0.1
	Stream      int // configuration of TCP and UDP services, on 127.0.0.1
	Health      int // the controller's /healthz and /metrics
	SSLProxy    int // nginx's for HTTPS when the controller has that of HTTPS itself
	Profiler    int // Go's profiles of the controller
}

// DefaultPorts are ingress-nginx's.
var DefaultPorts = Ports{HTTP: 80, HTTPS: 443, Default: 8181, Status: 10246, Stream: 10247, Health: 10254, SSLProxy: 442, Profiler: 10245}

// Use names our listener on a port; empty if there is none. The profiler's port is
// reserved even if the profiler is off.
func (p Ports) Use(port int) string {
	for _, own := range []struct {
		port int
		use  string
	}{
		{p.HTTP, "HTTP"}, {p.HTTPS, "HTTPS"}, {p.Default, "default server"}, {p.Status, "status server"},
		{p.Stream, "stream control"}, {p.Health, "health check"}, {p.SSLProxy, "TLS passthrough"}, {p.Profiler, "profiler"},
	} {
		if own.port == port {
			return own.use
		}
	}
	return ""
}

// rebased are the folders that move with Root.
var rebased = []string{"/etc/nginx", "/tmp/nginx", "/etc/ingress-controller", "/var/log/nginx"}

// Path is where a file of ingress-nginx's image is here: below Root, if it
// lies in one of the folders that nginx and the controller own; else as it is.
func (o Options) Path(file string) string {
	for _, folder := range rebased {
		if file == folder || strings.HasPrefix(file, folder+"/") {
			return path.Join(o.Root, file)
		}
	}
	return file
}
