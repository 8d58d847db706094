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

// Config configures Run. The command fills it in from its flags.
type Config struct {
	Client    kubernetes.Interface
	Watch     watch.Options
	Pod       *corev1.Pod          // the controller's own, for Events
	ConfigMap types.NamespacedName // the controller's own; empty if there is none

	Options  options.Options  // Run fills in Config and DefaultCertificate
	Nginx    *nginx.Nginx     // the program to run
	Claim    *os.File         // lock that keeps other controllers from the root; may be nil. Run closes it
	Template *render.Template // the user's nginx.tmpl; nil means ours
	// TemplateFile is the path of Template. The controller watches it. If it is empty, Template
	// never changes.
	TemplateFile string
	Lua          fs.FS // the Lua code for nginx; nil keeps the files that exist
	// LuaFallback contains substitutes for third-party Lua libraries, for Lua code that is not
	// ours. It is nil if Lua is ours or needs none.
	LuaFallback fs.FS
	// CompleteChains fetches missing certificates of chains from certificate authorities, at the
	// URLs that the certificates of hosts name.
	CompleteChains bool

	// NginxDebug sets nginx's log level to debug, unless error-log-level is set.
	NginxDebug bool

	SyncRate float64 // maximum number of syncs per second that reload nginx
	// DynamicSyncRate is the maximum number of all syncs per second; 0: SyncRate.
	DynamicSyncRate float64
	Retry           wait.Backoff // for POSTs to nginx

	Health  net.Listener // for health checks and /metrics; Run closes it
	Metrics *metrics.Metrics
	// Requests receives nginx's records of requests; nil disables their metrics. Run closes it.
	Requests net.Listener
	Profiler net.Listener // serves Go's profiles; nil disables them. Run closes it

	// Status configures leader election and the status of ingresses; nil disables both. Run fills
	// in Client, Pod, Ingresses, Leader and Log.
	Status *status.Options

	Admission *Admission // the webhook; nil disables it

	ShutdownGrace     time.Duration // from the end of Run's context until nginx is told to quit
	PostShutdownGrace time.Duration // from the end of nginx until Run returns

	Log    *slog.Logger
	Stderr io.Writer // receives nginx's standard error
}

// Admission configures the webhook that checks ingresses before they are stored.
type Admission struct {
	Listener    net.Listener // Run closes it
	Certificate *admission.Certificate
	OnlyNew     bool // --disable-full-test: render the new ingress alone
}
