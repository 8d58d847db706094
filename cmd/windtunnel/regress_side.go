package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/explain"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/template"
	"windtunnel.dev/controller/tls"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/lua"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/specfile"
)

// ourSide is a side of a comparison that the bundled controller renders.
type ourSide struct {
	offline   *controller.Offline
	rendering compile.Input // with the ports and paths of ingress-nginx's image
	template  *render.Template
	class     string
	config    map[string]string // keys of the ConfigMap, over those of the cluster
	root      string            // of the files for nginx -t
	testing   sync.Mutex        // nginx -t uses one file
}

// sideSettings are the settings of a side that flags of the controller set.
type sideSettings struct {
	options   options.Options
	configMap types.NamespacedName
	class     string
}

// defaultConfigMap is the name of the ConfigMap in ingress-nginx's own manifests.
var defaultConfigMap = types.NamespacedName{Namespace: "ingress-nginx", Name: "ingress-nginx-controller"}

// sideFlags are the flags of the controller that change what it renders.
var sideFlags = map[string]func(*sideSettings, string) error{
	"configmap":                    nameFlag(func(s *sideSettings) *types.NamespacedName { return &s.configMap }),
	"tcp-services-configmap":       nameFlag(func(s *sideSettings) *types.NamespacedName { return &s.options.TCPServices }),
	"udp-services-configmap":       nameFlag(func(s *sideSettings) *types.NamespacedName { return &s.options.UDPServices }),
	"default-backend-service":      nameFlag(func(s *sideSettings) *types.NamespacedName { return &s.options.DefaultBackendService }),
	"default-ssl-certificate":      nameFlag(func(s *sideSettings) *types.NamespacedName { return &s.options.DefaultSSLCertificate }),
	"publish-service":              nameFlag(func(s *sideSettings) *types.NamespacedName { return &s.options.PublishService }),
	"dynamic-configuration":        boolFlag(func(s *sideSettings, on bool) { s.options.DynamicConfiguration = on }),
	"enable-metrics":               boolFlag(func(s *sideSettings, on bool) { s.options.EnableMetrics = on }),
	"enable-ssl-passthrough":       boolFlag(func(s *sideSettings, on bool) { s.options.EnableSSLPassthrough = on }),
	"report-workers":               boolFlag(func(s *sideSettings, on bool) { s.options.ReportWorkers = on }),
	"disable-svc-external-name":    boolFlag(func(s *sideSettings, on bool) { s.options.DisableExternalNames = on }),
	"enable-annotation-validation": boolFlag(func(s *sideSettings, on bool) { s.options.SkipAnnotationValidation = !on }),
	"annotations-prefix":           textFlag(func(s *sideSettings) *string { return &s.options.AnnotationsPrefix }),
	"ingress-class":                textFlag(func(s *sideSettings) *string { return &s.class }),
	"health-check-path":            textFlag(func(s *sideSettings) *string { return &s.options.HealthPath }),
}

func nameFlag(of func(*sideSettings) *types.NamespacedName) func(*sideSettings, string) error {
	return func(s *sideSettings, value string) error {
		namespace, name, err := cache.SplitMetaNamespaceKey(value)
		if err != nil || namespace == "" || name == "" {
			return fmt.Errorf("%q is not of the form namespace/name", value)
		}
		*of(s) = types.NamespacedName{Namespace: namespace, Name: name}
		return nil
	}
}

func boolFlag(apply func(*sideSettings, bool)) func(*sideSettings, string) error {
	return func(s *sideSettings, value string) error {
		on, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		apply(s, on)
		return nil
	}
}

func textFlag(of func(*sideSettings) *string) func(*sideSettings, string) error {
	return func(s *sideSettings, value string) error {
		*of(s) = value
		return nil
	}
}

// settingsOf returns the settings of a side's flags.
func settingsOf(flags map[string]string) (sideSettings, error) {
	s := sideSettings{
		configMap: defaultConfigMap,
		class:     "nginx",
		options: options.Options{
			DynamicConfiguration: true, EnableMetrics: true, MonitorBatchSize: 10000, ReportWorkers: true,
			HealthPath: "/healthz", AnnotationsPrefix: annotations.DefaultPrefix, Ports: options.DefaultPorts,
		},
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		apply, known := sideFlags[name]
		if !known {
			return s, fmt.Errorf("flag.%s is not supported here; %s", name, specfile.Choose(name, "flags", slices.Sorted(maps.Keys(sideFlags))))
		}
		if err := apply(&s, flags[name]); err != nil {
			return s, fmt.Errorf("flag.%s: %w", name, err)
		}
	}
	return s, nil
}

// openSide prepares a side below a folder. own says that some side has its own template, so that both
// are rendered as templates of users are; ownLua says the same of Lua code.
func openSide(s scenario.Subject, folder string, certificate *tls.Pair, own, ownLua bool) (*ourSide, error) {
	settings, err := settingsOf(s.Flags)
	if err != nil {
		return nil, err
	}
	side := &ourSide{class: settings.class, config: s.Config, root: folder}
	c := controller.Config{Options: settings.options, ConfigMap: settings.configMap, Log: slog.New(slog.DiscardHandler), Stderr: io.Discard, Lua: lua.FS}
	c.Options.Root, c.Options.DefaultCertificate = folder, certificate
	if c.Options.Ports, err = freePorts(); err != nil {
		return nil, err
	}
	if c.Nginx, err = nginx.Find(s.Nginx); err != nil {
		return nil, err
	}
	if c.Template, err = sideTemplate(s.Template, folder, own); err != nil {
		return nil, err
	}
	side.template = c.Template
	if s.Lua != "" {
		if _, err := os.Stat(filepath.Join(s.Lua, "balancer.lua")); err != nil {
			return nil, fmt.Errorf("lua=%s: not the Lua code of ingress-nginx: %w", s.Lua, err)
		}
		c.Lua = os.DirFS(s.Lua)
	}
	if ownLua {
		if c.LuaFallback, err = fs.Sub(lua.FS, "fallback"); err != nil {
			return nil, err
		}
	}
	if side.offline, err = controller.NewOffline(c); err != nil {
		return nil, err
	}
	side.rendering = side.offline.Input()
	side.rendering.Options.Root, side.rendering.Options.Ports = "", options.DefaultPorts
	side.rendering.Writable = nil
	return side, nil
}

// sideTemplate reads the template of a side: our own one as if it were a user's, if the other side
// has one.
func sideTemplate(path, folder string, own bool) (*render.Template, error) {
	switch {
	case path != "":
	case !own:
		return nil, nil
	default:
		path = filepath.Join(folder, "template")
		if _, err := template.Export(path); err != nil {
			return nil, err
		}
	}
	read, err := template.Read(path)
	if err != nil {
		return nil, fmt.Errorf("template=%s: %w", path, err)
	}
	return read, nil
}

// freePorts returns ports that nginx -t can bind.
func freePorts() (options.Ports, error) {
	base, err := port.Free(8)
	return options.Ports{
		HTTP: base, HTTPS: base + 1, Default: base + 2, Status: base + 3, Stream: base + 4, Health: base + 5, Profiler: base + 6, SSLProxy: base + 7,
	}, err
}

// Template implements regress.Side.
func (s *ourSide) Template() map[string]string {
	if s.template == nil {
		return render.Files()
	}
	return s.template.Sources()
}

// snapshot returns what the side serves of a cluster.
func (s *ourSide) snapshot(c regress.Cluster) (snapshot.Snapshot, error) {
	source, err := c.Source()
	if err != nil {
		return snapshot.Snapshot{}, err
	}
	cluster := snapshot.Take(source)
	if len(s.config) > 0 {
		name := s.rendering.ConfigMap
		changed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Data: map[string]string{}}
		if given := cluster.ConfigMaps[name]; given != nil {
			changed = given.DeepCopy()
		}
		changed.Data = scenario.Over(changed.Data, s.config)
		cluster.ConfigMaps = maps.Clone(cluster.ConfigMaps)
		cluster.ConfigMaps[name] = changed
	}
	return explain.Served(cluster, s.class, s.rendering), nil
}

func (s *ourSide) build(c regress.Cluster) (compile.Built, error) {
	cluster, err := s.snapshot(c)
	if err != nil {
		return compile.Built{}, err
	}
	return compile.Build(cluster, s.rendering), nil
}

// Render implements regress.Side.
func (s *ourSide) Render(c regress.Cluster) ([]byte, error) {
	built, err := s.build(c)
	if err != nil {
		return nil, err
	}
	return built.Conf()
}

// Trace implements regress.Side.
func (s *ourSide) Trace(c regress.Cluster) ([]byte, regress.Origins, error) {
	built, err := s.build(c)
	if err != nil {
		return nil, nil, err
	}
	conf, trace, err := render.RenderTraced(built.Model, built.Input.Input)
	return conf, func(line int) [][]regress.Site { return sites(trace.Of(line)) }, err
}

func sites(origins []render.Origin) [][]regress.Site {
	var all [][]regress.Site
	for _, origin := range origins {
		var one []regress.Site
		for _, site := range origin {
			one = append(one, regress.Site{File: filepath.Base(site.File), Line: site.Line})
		}
		all = append(all, one)
	}
	return all
}

// Test implements regress.Side. A port that is in use says nothing about the configuration.
func (s *ourSide) Test(ctx context.Context, c regress.Cluster) (*regress.Refusal, error) {
	cluster, err := s.snapshot(c)
	if err != nil {
		return nil, err
	}
	s.testing.Lock()
	defer s.testing.Unlock()
	refusal, err := s.offline.Test(ctx, cluster)
	if err != nil || refusal == nil {
		return nil, err
	}
	if strings.Contains(refusal.Reason, "bind() to") {
		return nil, errors.New(refusal.Reason)
	}
	return &regress.Refusal{Reason: strings.ReplaceAll(refusal.Reason, s.root, ""), Line: refusal.Line}, nil
}
