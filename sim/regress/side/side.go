// Package side makes the sides of a comparison that the bundled controller renders and nginx -t
// tests. It stands between a subject, which describes a side, and package regress, which knows a
// side only as an interface. Its one rule: both sides get the same ports, paths and certificate, so
// that they differ only as requested.
package side

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
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
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
)

// Side is a side of a comparison. It implements regress.Side.
type Side struct {
	offline   *controller.Offline
	rendering compile.Input // with the ports and paths of ingress-nginx's image
	template  *render.Template
	class     string
	config    map[string]string // keys of the ConfigMap, over those of the cluster
	root      string            // of the files for nginx -t
	testing   sync.Mutex        // nginx -t uses one file
}

// Pair is both sides of a comparison.
type Pair struct {
	Base, Head *Side
	// ChangedLua are the files of Lua code that differ.
	ChangedLua []string
	// Settings are the settings that differ, but for templates and Lua code.
	Settings []string
	// SameProgram says that both sides run the same nginx with the same Lua code.
	SameProgram bool
	// HeadWith is as in regress.Options. It is not safe for concurrent use.
	HeadWith func(settings []string) (regress.Side, error)
}

// Open prepares both sides below a folder that nginx's workers can enter. If one side has its own
// template, both are rendered like users' templates, so that the bundled template and a copy of it
// render the same. The same applies to Lua code.
func Open(base, head scenario.Subject, folder string) (Pair, error) {
	certificate, err := tls.Fake(time.Now())
	if err != nil {
		return Pair{}, err
	}
	is := kind{
		certificate: certificate,
		ownTemplate: base.Template != "" || head.Template != "",
		ownLua:      base.Lua != "" || head.Lua != "",
	}
	p := Pair{Settings: differing(base, head)}
	if p.Base, err = open(base, filepath.Join(folder, "base"), is); err != nil {
		return p, fmt.Errorf("BASE %s: %w", base.Name, err)
	}
	if p.Head, err = open(head, filepath.Join(folder, "head"), is); err != nil {
		return p, fmt.Errorf("HEAD %s: %w", head.Name, err)
	}
	if p.ChangedLua, err = changedLua(base.Lua, head.Lua); err != nil {
		return p, err
	}
	if err := compileLua(base, p.ChangedLua); err != nil {
		return p, fmt.Errorf("BASE %s: %w", base.Name, err)
	}
	if err := compileLua(head, p.ChangedLua); err != nil {
		return p, fmt.Errorf("HEAD %s: %w", head.Name, err)
	}
	p.SameProgram = base.Nginx == head.Nginx && len(p.ChangedLua) == 0
	opened := map[string]*Side{}
	p.HeadWith = func(settings []string) (regress.Side, error) {
		key := strings.Join(settings, "\n")
		if opened[key] == nil {
			side, err := open(mixed(base, head, settings), filepath.Join(folder, fmt.Sprintf("mixed-%d", len(opened)+1)), is)
			if err != nil {
				return nil, err
			}
			opened[key] = side
		}
		return opened[key], nil
	}
	return p, nil
}

// kind has the properties that both sides of a comparison share.
type kind struct {
	certificate         *tls.Pair
	ownTemplate, ownLua bool // some side has one that is not bundled
}

// open prepares a side below a folder.
func open(s scenario.Subject, folder string, is kind) (*Side, error) {
	given, err := settingsOf(s.Flags)
	if err != nil {
		return nil, err
	}
	side := &Side{class: given.class, config: s.Config, root: folder}
	c := controller.Config{Options: given.options, ConfigMap: given.configMap, Log: slog.New(slog.DiscardHandler), Stderr: io.Discard, Lua: lua.FS}
	c.Options.Root, c.Options.DefaultCertificate = folder, is.certificate
	if c.Options.Ports, err = freePorts(); err != nil {
		return nil, err
	}
	if c.Nginx, err = nginx.Find(s.Nginx); err != nil {
		return nil, err
	}
	if c.Template, err = readTemplate(s.Template, folder, is.ownTemplate); err != nil {
		return nil, err
	}
	side.template = c.Template
	if s.Lua != "" {
		if _, err := os.Stat(filepath.Join(s.Lua, "balancer.lua")); err != nil {
			return nil, fmt.Errorf("lua=%s: not the Lua code of ingress-nginx: %w", s.Lua, err)
		}
		c.Lua = os.DirFS(s.Lua)
	}
	if is.ownLua {
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

// readTemplate reads the template of a side. If own says that the other side has its own template,
// the bundled template is read like a user's.
func readTemplate(path, folder string, own bool) (*render.Template, error) {
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
func (s *Side) Template() map[string]string {
	if s.template == nil {
		return render.Files()
	}
	return s.template.Sources()
}

// snapshot returns the snapshot of a cluster, with the ConfigMap keys of the side.
func (s *Side) snapshot(c regress.Cluster) (snapshot.Snapshot, error) {
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

func (s *Side) build(c regress.Cluster) (compile.Built, error) {
	cluster, err := s.snapshot(c)
	if err != nil {
		return compile.Built{}, err
	}
	return compile.Build(cluster, s.rendering), nil
}

// Unused returns the problems that only one side finds in the ConfigMaps of clusters: settings that have
// no effect, and so make no difference.
func (p Pair) Unused(clusters []regress.Cluster) ([]string, error) {
	found := map[string]bool{}
	for _, c := range clusters {
		base, err := p.Base.configFindings(c)
		if err != nil {
			return nil, err
		}
		head, err := p.Head.configFindings(c)
		if err != nil {
			return nil, err
		}
		for side, others := range map[string][2][]string{regress.SideBase: {base, head}, regress.SideHead: {head, base}} {
			for _, finding := range others[0] {
				if !slices.Contains(others[1], finding) {
					found[side+": "+finding] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// configFindings returns what is wrong with the ConfigMap of a cluster, with the settings of the side.
func (s *Side) configFindings(c regress.Cluster) ([]string, error) {
	cluster, err := s.snapshot(c)
	if err != nil {
		return nil, err
	}
	var all []string
	_, findings := compile.Options(cluster.ConfigMaps[s.rendering.ConfigMap], s.rendering)
	for _, finding := range findings {
		all = append(all, finding.String())
	}
	return all, nil
}

// Render implements regress.Side.
func (s *Side) Render(c regress.Cluster) ([]byte, error) {
	built, err := s.build(c)
	if err != nil {
		return nil, err
	}
	return built.Conf()
}

// Trace implements regress.Side.
func (s *Side) Trace(c regress.Cluster) ([]byte, regress.Origins, error) {
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
func (s *Side) Test(ctx context.Context, c regress.Cluster) (*regress.Refusal, error) {
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
