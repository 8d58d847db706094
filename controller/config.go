package controller

import (
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/controller/admission"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/status"
	"windtunnel.dev/controller/watch"
)

// Config is all that Run works with. The command fills it in from its flags.
type Config struct {
	Client    kubernetes.Interface
	Watch     watch.Options
	Pod       *corev1.Pod          // the controller's own, for Events
	ConfigMap types.NamespacedName // empty is none

	Options  options.Options  // its Config and DefaultCertificate are Run's to fill in
	Nginx    *nginx.Nginx     // the program to run
	Claim    *os.File         // keeps other controllers from the root; nil is none. Run closes it
	Template *render.Template // the user's nginx.tmpl; nil is ours
	// TemplateFile is where Template is from; it is followed. Empty: it stays
	// as it is.
	TemplateFile string
	Lua          fs.FS // the code nginx runs; nil leaves what is in its place
	// CompleteChains asks certificate authorities for what the certificates of
	// hosts lack, at the addresses that these name.
	CompleteChains bool

	// NginxDebug has nginx log all it can, unless error-log-level says otherwise.
	NginxDebug bool

	SyncRate float64      // syncs a second at most
	Retry    wait.Backoff // of what is sent to nginx

	Health     net.Listener // for /healthz and /metrics; Run closes it
	HealthPath string
	Metrics    *metrics.Metrics
	// Requests is where nginx sends its records of requests; nil without them.
	// Run closes it.
	Requests net.Listener
	Profiler net.Listener // for Go's profiles; nil without. Run closes it

	// Status is the part in elections, and in the status of ingresses; nil is
	// none. Client, Pod, Ingresses, Leader and Log are Run's to fill in.
	Status *status.Options

	Admission *Admission // the webhook; nil is none

	ShutdownGrace     time.Duration // from the signal to nginx's quitting
	PostShutdownGrace time.Duration // from nginx's end to Run's

	Log    *slog.Logger
	Stderr io.Writer // for what nginx writes to its standard error
}

// Admission is the webhook that checks ingresses before they are stored.
type Admission struct {
	Listener    net.Listener // Run closes it
	Certificate *admission.Certificate
	OnlyNew     bool // --disable-full-test: render the new ingress alone
}
