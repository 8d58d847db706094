// Package options contains the user's settings for the controller as a whole: its ConfigMap, and
// those flags that the pure stages need. It stands between these texts and the model, which
// contains typed values only. Its one rule: a bad value never stops the controller; it is reported
// as a problem, and the default applies.
package options

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/tls"
)

// Options contains the ConfigMap and the flags.
type Options struct {
	Config Config

	// DefaultBackendService serves requests that match no ingress; empty: none.
	DefaultBackendService types.NamespacedName
	// TCPServices and UDPServices are the ConfigMaps that map ports to services; empty: none.
	TCPServices, UDPServices types.NamespacedName
	// Stream is nginx's support for TCP and UDP services.
	Stream Stream

	// Variables are the groups of PossibleVariables that nginx has, each by its first name.
	Variables []string

	// DynamicConfiguration sends endpoints to Lua. Without it they are rendered into upstream
	// blocks, and each change of the endpoints needs a reload.
	DynamicConfiguration bool
	Ports                Ports
	// Root is the prefix of the directories of ingress-nginx's image; empty: the directories are as
	// in the image. See Path.
	Root string
	// ForeignTemplate is true if a user's template is rendered. Such a template may define
	// variables that ours does not have.
	ForeignTemplate bool
	// ForeignLua is true if nginx runs Lua code that is not ours.
	ForeignLua bool
	// DefaultCertificate is served for hosts without a certificate of their own, unless the Secret
	// DefaultSSLCertificate contains another certificate. If DefaultSSLCertificate is empty, there
	// is no such Secret.
	DefaultCertificate    *tls.Pair
	DefaultSSLCertificate types.NamespacedName
	// EnableSSLPassthrough makes the controller itself listen on Ports.HTTPS, so that it can pass
	// TLS connections to pods unchanged. nginx gets all other connections on Ports.SSLProxy.
	EnableSSLPassthrough bool
	EnableMetrics        bool
	// MonitorBatchSize is the maximum number of request records that a worker keeps until it next
	// sends them; 0: ingress-nginx's default of 10000.
	MonitorBatchSize int
	// ReportWorkers makes Lua report which configuration each worker serves, at
	// /configuration/workers of the status server.
	ReportWorkers bool
	// BackendsPush announces backends to workers, which apply them immediately instead of at the next
	// poll.
	BackendsPush bool
	// BackendsDelta sends only the backends and certificates that changed.
	BackendsDelta bool

	// AnnotationsPrefix is the prefix of annotation keys; empty: that of ingress-nginx.
	AnnotationsPrefix string
	// SkipAnnotationValidation accepts values of annotations without validation.
	SkipAnnotationValidation bool

	// PublishService is the service whose addresses become the status of ingresses; empty: none.
	PublishService types.NamespacedName

	// HealthPath is the path at which nginx and the controller answer health checks; see Healthz.
	HealthPath string
	// DisableExternalNames leaves services of type ExternalName without endpoints.
	DisableExternalNames bool
	// Zone is the zone of the controller's node. Endpoints for other zones are excluded. Empty: all
	// endpoints are used.
	Zone string
}

// Healthz returns the path of health checks, /healthz by default.
func (o Options) Healthz() string { return cmp.Or(o.HealthPath, "/healthz") }

// MonitorMaxBatchSize returns the maximum number of request records that a worker keeps, 10000 by
// default.
func (o Options) MonitorMaxBatchSize() int { return cmp.Or(o.MonitorBatchSize, 10000) }

// MetricsSocket is the Unix socket to which nginx sends its request records; see Path.
const MetricsSocket = "/tmp/nginx/prometheus-nginx.socket"

// AnnouncementsSocket is the controller's Unix socket on which workers receive announcements of
// changes; see Path.
const AnnouncementsSocket = "/tmp/nginx/announcements.socket"

// Ports are the TCP ports that nginx and the controller listen on.
type Ports struct {
	HTTP, HTTPS int
	Default     int // responds with 404; the default backend if no service is configured
	Status      int // nginx's own status and configuration server, on 127.0.0.1
	Stream      int // configuration of TCP and UDP services, on 127.0.0.1
	Health      int // the controller's /healthz and /metrics
	SSLProxy    int // nginx's port for HTTPS if the controller itself listens on HTTPS
	Profiler    int // the controller's Go profiles
	Webhook     int // the controller's admission webhook; 0: none
}

// DefaultPorts are the ports of ingress-nginx.
var DefaultPorts = Ports{HTTP: 80, HTTPS: 443, Default: 8181, Status: 10246, Stream: 10247, Health: 10254, SSLProxy: 442, Profiler: 10245}

// Use returns the use of a reserved port, which a TCP or UDP service cannot have; empty if the port
// is free. The profiler's port is reserved even if the profiler is off. The webhook reserves its
// port only for TCP.
func (p Ports) Use(port int, protocol corev1.Protocol) string {
	if protocol == corev1.ProtocolTCP && port == p.Webhook {
		return "the admission webhook"
	}
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

// rebased are the directories that move with Root.
var rebased = []string{"/etc/nginx", "/tmp/nginx", "/etc/ingress-controller", "/var/log/nginx"}

// Path returns the location of a file of ingress-nginx's image: below Root if it lies in one of the
// directories that nginx and the controller own, otherwise unchanged.
func (o Options) Path(file string) string {
	for _, folder := range rebased {
		if file == folder || strings.HasPrefix(file, folder+"/") {
			return path.Join(o.Root, file)
		}
	}
	return file
}

// absolutePath matches absolute paths.
var absolutePath = regexp.MustCompile(`(?:^|[^\w./-])/[\w./?*-]*`)

// Rebase moves the paths of ingress-nginx's image in a text below the root; see Path.
func (o Options) Rebase(text string) string {
	if o.Root == "" {
		return text
	}
	return absolutePath.ReplaceAllStringFunc(text, func(found string) string {
		start := strings.IndexByte(found, '/')
		file := found[start:]
		if file == o.Root || strings.HasPrefix(file, o.Root+"/") {
			return found // already below the root: a value from the template's data
		}
		moved := o.Path(file)
		if moved != file && strings.HasSuffix(file, "/") {
			moved += "/"
		}
		return found[:start] + moved
	})
}

// LuaFallback returns the pattern, for Lua's search path, of our substitutes for third-party
// libraries. Our Lua code appends it itself.
func (o Options) LuaFallback() string { return o.Path("/etc/nginx/lua/fallback") + "/?.lua" }
