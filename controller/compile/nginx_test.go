package compile_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
)

// testConf runs this machine's nginx -t on the configuration of a cluster.
func testConf(t *testing.T, source snapshot.Source, opts options.Options) {
	t.Helper()
	opts.Root = t.TempDir()
	opts.Ports = options.Ports{HTTP: 18080, HTTPS: 18443, Default: 18181, Status: 18246, Stream: 18247, Health: 18254, SSLProxy: 18442}
	if len(opts.Config.BindAddress) == 0 {
		opts.Config.BindAddress = []string{"127.0.0.1"}
	}
	built, _ := model.Build(snapshot.Take(source), opts)
	needs := []string{"http_lua"}
	switch {
	case opts.Stream == options.LuaStream:
		needs = append(needs, "stream_lua")
	case len(built.TCPBackends)+len(built.UDPBackends)+len(built.StreamSnippets) > 0:
		needs = append(needs, "stream")
	}
	server, modules := nginxtest.Find(t, needs...)
	in := input(opts)
	in.Modules = modules
	in.Optional = server.Available(render.OptionalModules()...)
	in.HTTP2Directive = server.AtLeast("1.25.1")
	state, err := plan.Next(built, in)
	if err != nil {
		t.Fatal(err)
	}
	install(t, opts, state)
	nginxtest.Accepts(t, server, opts.Path("/etc/nginx/nginx.conf"))
}

func install(t *testing.T, opts options.Options, state plan.State) {
	t.Helper()
	if err := lua.Write(opts.Path("/etc/nginx/lua")); err != nil {
		t.Fatal(err)
	}
	for _, rules := range render.FirewallFiles() { // nginx with ModSecurity reads them
		if err := os.MkdirAll(filepath.Dir(opts.Path(rules)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(opts.Path(rules), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"/tmp/nginx", "/var/log/nginx", "/etc/ingress-controller/ssl", "/etc/ingress-controller/auth"} {
		if err := os.MkdirAll(opts.Path(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	files := maps.Clone(state.Files)
	files[opts.Path("/etc/nginx/nginx.conf")] = state.Conf.Bytes()
	files[filepath.Join(opts.Path("/etc/nginx/lua"), "cfg.json")] = state.LuaConfig
	for file, text := range files {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The limit on paths in package model matches nginx's: nginx accepts every path that the model
// accepts.
func TestTheLongestPathFitsIntoNginx(t *testing.T) {
	t.Parallel()
	opts := parse(flags{}, nil).Options
	for _, path := range []string{"/" + strings.Repeat("a", 3997), "/" + strings.Repeat("$", 234), "/" + strings.Repeat("\\", 1998)} {
		cluster := populate(1)
		cluster.ingresses[0].Spec.Rules[0].HTTP.Paths[0].Path = path
		_, findings := model.Build(snapshot.Take(cluster), opts)
		if len(findings) > 0 {
			t.Errorf("%d bytes: %v", len(path), findings)
		}
		t.Run("nginx -t", func(t *testing.T) {
			t.Parallel()
			testConf(t, cluster, opts)
		})
	}
}

// nginx also accepts the beginnings that replace longer paths.
func TestBeginningsOfPathsFitIntoNginx(t *testing.T) {
	opts := parse(flags{}, nil).Options
	for _, pattern := range []string{"false", "true"} {
		for _, path := range []string{
			"/" + strings.Repeat("a", 9000), "/" + strings.Repeat("$", 3000), "/" + strings.Repeat("\\", 9000), "/" + strings.Repeat("ü", 9000),
			"/(" + strings.Repeat("+", 1500), "/(" + strings.Repeat("$\"", 4000), "/admin/(" + strings.Repeat("a|", 4000) + ")", "/admin\n}",
		} {
			cluster := populate(1)
			cluster.ingresses[0].Spec.Rules[0].HTTP.Paths[0].Path = path
			cluster.ingresses[0].Annotations = map[string]string{"nginx.ingress.kubernetes.io/use-regex": pattern}
			t.Run("nginx -t", func(t *testing.T) {
				t.Parallel()
				testConf(t, cluster, opts)
			})
		}
	}
}
