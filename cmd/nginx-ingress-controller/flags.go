package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/watch"
)

// flags is the parsed command line: the flags of ingress-nginx, with its names and defaults, and
// our own.
type flags struct {
	set *pflag.FlagSet

	apiServer, certificateAuthority, kubeconfig string

	watch             watch.Options
	configMap         name
	tcpServices       name
	udpServices       name
	defaultBackend    name
	namespaceSelector string
	model             modelFlags

	status       statusFlags
	admission    admissionFlags
	metrics      metricsFlags
	profiling    bool
	profilerHost string

	tls               tlsFlags
	ports             options.Ports
	healthHost        string
	healthPath        string
	syncRate          float64
	dynamicSyncRate   float64
	retries           int
	shutdownGrace     int
	postShutdownGrace int
	version           bool

	dynamic   bool
	root      string
	binary    string
	template  string
	luaDir    string
	logFormat string

	reportWorkers bool
	backendsSync  string
	backendsDelta bool
}

func parseFlags(args []string) (*flags, error) {
	f := &flags{set: pflag.NewFlagSet("nginx-ingress-controller", pflag.ContinueOnError), ports: options.DefaultPorts}
	f.set.SetOutput(io.Discard) // errors are returned
	f.set.SortFlags = true
	f.addCluster()
	f.addModel()
	f.addNginx()
	f.addTLS()
	f.addOurs()
	f.addStatus()
	f.addMetrics()
	f.addAdmission()
	addIgnored(f.set)
	addLogging(f.set)
	if err := f.set.Parse(args); err != nil {
		return f, err
	}
	return f, f.validate()
}

func (f *flags) usage() string { return f.set.FlagUsages() }

func (f *flags) addCluster() {
	s, w := f.set, &f.watch
	s.StringVar(&f.apiServer, "apiserver-host", "", "URL of the API server; empty: from the kubeconfig or the pod's service account")
	s.StringVar(&f.certificateAuthority, "certificate-authority", "", "file with the CA of the API server, for --apiserver-host")
	s.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file")
	s.Var(&f.configMap, "configmap", "namespace/name of the ConfigMap with the global configuration")
	s.Var(&f.tcpServices, "tcp-services-configmap", "namespace/name of the ConfigMap with TCP ports and their services: PORT: namespace/service:port[:PROXY[:PROXY]]")
	s.Var(&f.udpServices, "udp-services-configmap", "namespace/name of the ConfigMap with UDP ports and their services: PORT: namespace/service:port")
	s.StringVar(&w.ControllerClass, "controller-class", "k8s.io/ingress-nginx", "spec.controller of the IngressClasses to serve")
	s.BoolVar(&w.DeepInspect, "deep-inspect", true, "reject ingresses whose hosts, paths or Secret names look like nginx directives")
	s.Var(&f.defaultBackend, "default-backend-service", "namespace/name of the service for requests that no ingress matches")
	s.BoolVar(&w.DisableCatchAll, "disable-catch-all", false, "ignore ingresses with spec.defaultBackend")
	s.BoolVar(&w.DisableSyncEvents, "disable-sync-events", false, "do not record the Event Sync on each ingress of the controller's class")
	s.StringVar(&w.IngressClass, "ingress-class", "nginx", "value of the annotation kubernetes.io/ingress.class to serve")
	s.BoolVar(&w.ClassByName, "ingress-class-by-name", false, "also serve the IngressClass named by --ingress-class")
	s.DurationVar(&w.Resync, "sync-period", 0, "how often to process all objects again; 0: never")
	s.BoolVar(&w.WithoutClass, "watch-ingress-without-class", false, "also serve ingresses without a class")
	s.StringVar(&w.Namespace, "watch-namespace", "", "the only namespace to serve; empty: all")
	s.StringVar(&f.namespaceSelector, "watch-namespace-selector", "", "label selector of the namespaces to serve")
}

func (f *flags) addNginx() {
	s, p := f.set, &f.ports
	s.IntVar(&p.HTTP, "http-port", p.HTTP, "port for HTTP")
	s.IntVar(&p.HTTPS, "https-port", p.HTTPS, "port for HTTPS")
	s.IntVar(&p.Default, "default-server-port", p.Default, "port of the server that answers 404")
	s.IntVar(&p.Status, "status-port", p.Status, "port on 127.0.0.1 on which nginx receives endpoints")
	s.IntVar(&p.Stream, "stream-port", p.Stream, "port on 127.0.0.1 on which nginx receives the endpoints of TCP and UDP services")
	s.IntVar(&p.Health, "healthz-port", p.Health, "port of the health check and of /metrics")
	s.StringVar(&f.healthHost, "healthz-host", "", "address of the health check and of /metrics; empty: all")
	s.BoolVar(&f.profiling, "profiling", true, "serve Go profiles of the controller")
	s.StringVar(&f.profilerHost, "profiler-address", "127.0.0.1", "address of the profiles, http://ADDRESS:PORT/debug/pprof/")
	s.IntVar(&f.ports.Profiler, "profiler-port", options.DefaultPorts.Profiler, "port of the profiles")
	s.StringVar(&f.healthPath, "health-check-path", "/healthz", "path of the health check, on the controller's port and in nginx")
	s.Float64Var(&f.syncRate, "sync-rate-limit", 0.3, "maximum number of syncs per second")
	s.IntVar(&f.retries, "dynamic-configuration-retries", 15, "how often to repeat an update that nginx did not accept")
	s.IntVar(&f.shutdownGrace, "shutdown-grace-period", 0, "seconds from the termination signal until nginx quits")
	s.IntVar(&f.postShutdownGrace, "post-shutdown-grace-period", 10, "seconds from the end of nginx until the controller exits")
	s.BoolVar(&f.version, "version", false, "print the version and exit")
}

func (f *flags) addOurs() {
	s := f.set
	s.Float64Var(&f.dynamicSyncRate, "dynamic-sync-rate-limit", 0, "maximum number of syncs per second; --sync-rate-limit then limits only reloads; 0: --sync-rate-limit limits all syncs")
	s.BoolVar(&f.dynamic, "dynamic-configuration", true, "send endpoints to nginx without a reload; false: render them into nginx.conf")
	s.StringVar(&f.root, "nginx-root", "", "folder in which to create /etc/nginx, /tmp/nginx, /etc/ingress-controller and /var/log/nginx")
	s.StringVar(&f.binary, "nginx-binary", "", "nginx binary to run; empty: $NGINX_BINARY, else the first of /usr/bin/nginx, $PATH and the paths of Debian and OpenResty")
	s.StringVar(&f.template, "nginx-template", "", "nginx.tmpl to use instead of the bundled one, or a folder with nginx.tmpl and the files that it includes, as written by windtunnel template export")
	s.StringVar(&f.luaDir, "lua-dir", "", "folder with Lua code to use instead of the bundled code, as written by windtunnel lua export")
	s.StringVar(&f.backendsSync, "backends-sync", "poll", "how the workers of nginx get backends: poll: once a second, as in ingress-nginx; push: the controller announces them as well, so that they are live at once (requires the bundled Lua code)")
	s.BoolVar(&f.backendsDelta, "backends-delta", false, "send only changed backends and certificates to nginx (requires the bundled Lua code; other Lua code gets all backends)")
	s.BoolVar(&f.reportWorkers, "report-workers", true, "report at /configuration/workers of the status port which configuration each worker of nginx serves; readiness depends on it")
	s.StringVar(&f.logFormat, "log-format", "text", "text or json")
}

var plainPath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// takenPaths are the paths in use on the controller's port and on nginx's status port.
var takenPaths = []string{"/metrics", "/configuration", "/is-dynamic-lb-initialized", "/nginx_status"}

func (f *flags) validate() error {
	if !(f.syncRate > 0) { // also rejects NaN
		return fmt.Errorf("--sync-rate-limit %v: must be greater than 0", f.syncRate)
	}
	if f.dynamicSyncRate != 0 && !(f.dynamicSyncRate >= f.syncRate) {
		return fmt.Errorf("--dynamic-sync-rate-limit %v: must not be less than --sync-rate-limit %v; 0 is the same as that", f.dynamicSyncRate, f.syncRate)
	}
	if f.backendsSync != "poll" && f.backendsSync != "push" {
		return fmt.Errorf("--backends-sync %q: must be poll or push", f.backendsSync)
	}
	if f.retries < 0 {
		return fmt.Errorf("--dynamic-configuration-retries %d: must not be negative", f.retries)
	}
	if f.logFormat != "text" && f.logFormat != "json" {
		return fmt.Errorf("--log-format %q: must be text or json", f.logFormat)
	}
	if !plainPath.MatchString(f.healthPath) || slices.Contains(takenPaths, f.healthPath) {
		return fmt.Errorf("--health-check-path %q: must be a path such as /healthz, of plain characters, and none of %s", f.healthPath, strings.Join(takenPaths, ", "))
	}
	if f.certificateAuthority != "" && f.apiServer == "" {
		return errors.New("--certificate-authority needs --apiserver-host; a kubeconfig has its own CA")
	}
	if err := f.status.validate(); err != nil {
		return err
	}
	if err := f.metrics.validate(); err != nil {
		return err
	}
	if err := f.admission.validate(); err != nil {
		return err
	}
	if f.namespaceSelector == "" {
		return nil
	}
	if f.watch.Namespace != "" {
		return errors.New("--watch-namespace and --watch-namespace-selector exclude each other: set only one")
	}
	selector, err := labels.Parse(f.namespaceSelector)
	if err != nil {
		return fmt.Errorf("--watch-namespace-selector %q: %w", f.namespaceSelector, err)
	}
	f.watch.NamespaceSelector = selector
	return nil
}

// name is a flag's value of the form namespace/name.
type name types.NamespacedName

// String returns namespace/name; empty if the flag is not set.
func (n *name) String() string {
	if n.Name == "" {
		return ""
	}
	return types.NamespacedName(*n).String()
}

// Set parses namespace/name.
func (n *name) Set(text string) error {
	if text == "" {
		*n = name{}
		return nil
	}
	parsed, err := splitName(text)
	*n = name(parsed)
	return err
}

// Type returns the placeholder in the usage.
func (n *name) Type() string { return "namespace/name" }

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }
