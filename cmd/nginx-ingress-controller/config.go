package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/template"
	"windtunnel.dev/controller/watch"
	"windtunnel.dev/lua"
)

// config converts the command line into the configuration of the controller. It makes the quick
// checks first and contacts the API server last. Its errors are written for the user.
func (f *flags) config(ctx context.Context, env func(string) string, stderr io.Writer) (config controller.Config, err error) {
	log := f.logger(stderr)
	klog.SetSlogLogger(log) // for client-go
	warnIgnored(f.set, log)
	f.metrics.warn(log)

	pod := types.NamespacedName{Namespace: env("POD_NAMESPACE"), Name: env("POD_NAME")}
	if pod.Namespace == "" || pod.Name == "" {
		return config, errors.New("$POD_NAMESPACE and $POD_NAME must both be set, to the namespace and name of the controller's own pod")
	}
	local, err := f.local()
	if err != nil {
		return config, err
	}
	client, err := f.client()
	if err != nil {
		return config, err
	}
	claim, err := claimRoot(local.root, log)
	if err != nil {
		return config, err
	}
	listeners, err := f.listen(local.root)
	if err != nil {
		claim.Close() // nil without --nginx-root; the error of Close is then harmless
		return config, err
	}
	defer func() {
		if err != nil {
			listeners.close()
			claim.Close()
		}
	}()
	webhook, err := f.admission.config(listeners.webhook, log)
	if err != nil {
		return config, err
	}
	log.Info("starting", "version", banner(), "nginx", local.nginx.Version, "binary", local.nginx.Binary, "dynamic", f.dynamic)
	watched, own, err := f.checkCluster(ctx, client, pod, log)
	if err != nil {
		return config, err
	}
	opts := f.options(local.root)
	opts.Zone = f.model.zone(ctx, client, own, log)
	config = f.fixed(log, stderr)
	config.Client, config.Watch, config.Pod, config.Options = client, watched, own, opts
	config.Nginx, config.Template, config.Lua, config.Claim = local.nginx, local.template, local.lua, claim
	config.Health, config.Requests, config.Profiler = listeners.health, listeners.requests, listeners.profiler
	config.Metrics, config.Admission = metrics.New(f.metricsOptions(pod)), webhook
	return config, nil
}

// fixed returns the part of the configuration that depends on the flags alone.
func (f *flags) fixed(log *slog.Logger, stderr io.Writer) controller.Config {
	return controller.Config{
		ConfigMap:         types.NamespacedName(f.configMap),
		TemplateFile:      f.template,
		LuaFallback:       f.luaFallback(),
		CompleteChains:    f.tls.completeChains,
		NginxDebug:        klog.V(5).Enabled(), // as in ingress-nginx
		SyncRate:          f.syncRate,
		DynamicSyncRate:   f.dynamicSyncRate,
		Retry:             apply.Retry(f.retries),
		Status:            f.status.options(log),
		ShutdownGrace:     seconds(f.shutdownGrace),
		PostShutdownGrace: seconds(f.postShutdownGrace),
		Log:               log,
		Stderr:            stderr,
	}
}

// local contains the parts of the configuration that come from the machine.
type local struct {
	root     string
	nginx    *nginx.Nginx
	template *render.Template // nil: the built-in one
	lua      fs.FS            // nil: already installed
}

func (f *flags) local() (found local, err error) {
	if found.root, err = f.rootDirectory(); err != nil {
		return found, err
	}
	if found.nginx, err = findNginx(f.binary); err != nil {
		return found, err
	}
	if found.template, err = f.userTemplate(); err != nil {
		return found, err
	}
	found.lua, err = f.luaCode(found.root)
	return found, err
}

// checkCluster waits for the API server and checks the objects that the flags name. It returns the
// watch options and the controller's own pod.
func (f *flags) checkCluster(ctx context.Context, client kubernetes.Interface, pod types.NamespacedName, log *slog.Logger) (watch.Options, *corev1.Pod, error) {
	if err := watch.AwaitServer(ctx, client, log); err != nil {
		return watch.Options{}, nil, err
	}
	if err := watch.CheckService(ctx, client, "publish-service", types.NamespacedName(f.status.service)); err != nil {
		return watch.Options{}, nil, err
	}
	for _, own := range []name{f.configMap, f.tcpServices, f.udpServices} {
		if own.Name != "" {
			f.watch.ConfigMaps = append(f.watch.ConfigMaps, types.NamespacedName(own))
		}
	}
	f.watch.DefaultCertificate = types.NamespacedName(f.tls.defaultCertificate)
	return watch.CheckOptions(ctx, client, f.watch, pod, types.NamespacedName(f.defaultBackend), log)
}

// options returns the options that the flags determine.
func (f *flags) options(root string) options.Options {
	return options.Options{
		DefaultBackendService: types.NamespacedName(f.defaultBackend),
		TCPServices:           types.NamespacedName(f.tcpServices),
		UDPServices:           types.NamespacedName(f.udpServices),
		DefaultSSLCertificate: types.NamespacedName(f.tls.defaultCertificate),
		EnableSSLPassthrough:  f.tls.passthrough,
		DynamicConfiguration:  f.dynamic,
		EnableMetrics:         f.metrics.enable,
		MonitorBatchSize:      f.metrics.batchSize,
		ReportWorkers:         f.reportWorkers,
		BackendsPush:          f.backendsSync == "push",
		BackendsDelta:         f.backendsDelta,
		Ports:                 f.ports,
		Root:                  root,
		HealthPath:            f.healthPath,
		PublishService:        types.NamespacedName(f.status.service),

		AnnotationsPrefix:        f.model.prefix,
		SkipAnnotationValidation: !f.model.validate,
		DisableExternalNames:     f.model.disableExternalNames,
	}
}

func (f *flags) logger(w io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if klog.V(2).Enabled() { // -v=2 or more, as in ingress-nginx
		level = slog.LevelDebug
	}
	o := &slog.HandlerOptions{Level: level}
	if f.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// rootDirectory creates the directory of --nginx-root and returns its absolute path. It returns an
// error if nginx's workers, which do not run as root, cannot enter the directory.
func (f *flags) rootDirectory() (string, error) {
	if f.root == "" {
		return "", nil
	}
	root, err := filepath.Abs(f.root)
	if err != nil {
		return "", fmt.Errorf("--nginx-root %s: %w", f.root, err)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", fmt.Errorf("--nginx-root %s: %w", f.root, err)
	}
	if os.Geteuid() != 0 {
		return root, nil // the workers run as the same user
	}
	for dir := root; dir != "/"; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return "", fmt.Errorf("--nginx-root %s: %w", f.root, err)
		}
		if info.Mode()&0o001 == 0 {
			return "", fmt.Errorf("--nginx-root %s: nginx's workers do not run as root and cannot enter %s: chmod o+x %s", f.root, dir, dir)
		}
	}
	return root, nil
}

// findNginx finds an nginx that can run Lua.
func findNginx(binary string) (*nginx.Nginx, error) {
	program, err := nginx.Find(binary)
	if err != nil {
		return nil, err
	}
	_, err = program.Load("ndk_http", "http_lua")
	return program, err
}

func (f *flags) userTemplate() (*render.Template, error) {
	if f.template == "" {
		return nil, nil
	}
	read, err := template.Read(f.template)
	if err != nil {
		return nil, fmt.Errorf("--nginx-template: %w", err)
	}
	return read, nil
}

// luaCode returns the Lua code to install, or nil if --lua-dir is the installation directory
// itself.
func (f *flags) luaCode(root string) (fs.FS, error) {
	if f.luaDir == "" {
		return lua.FS, nil
	}
	dir, err := filepath.Abs(f.luaDir)
	if err != nil {
		return nil, fmt.Errorf("--lua-dir %s: %w", f.luaDir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "balancer.lua")); err != nil {
		return nil, fmt.Errorf("--lua-dir %s: not the Lua code of ingress-nginx: %w", f.luaDir, err)
	}
	if dir == (apply.Layout{Root: root}).Lua() {
		return nil, nil
	}
	return os.DirFS(dir), nil
}

// luaFallback returns our substitutes for third-party libraries if --lua-dir is set.
func (f *flags) luaFallback() fs.FS {
	if f.luaDir == "" {
		return nil
	}
	modules, err := fs.Sub(lua.FS, "fallback")
	if err != nil {
		panic(err) // cannot happen: the folder is embedded
	}
	return modules
}

func splitName(text string) (types.NamespacedName, error) {
	namespace, name, err := cache.SplitMetaNamespaceKey(text)
	if err != nil || namespace == "" || name == "" {
		return types.NamespacedName{}, fmt.Errorf("%q is not of the form namespace/name", text)
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, nil
}
