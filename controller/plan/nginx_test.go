package plan_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
	"windtunnel.dev/lua"
)

var fakeCertificate = sync.OnceValues(tls.FakeCertificate)

// testConf has the nginx of this machine read what the model becomes.
func testConf(t *testing.T, m *model.Model, opts options.Options) {
	t.Helper()
	server, err := nginx.Find("")
	if err != nil {
		t.Skipf("needs nginx: %v", err)
	}
	modules := []string{"http_lua"}
	switch {
	case opts.Stream == options.LuaStream:
		modules = append(modules, "stream_lua")
	case len(m.TCPBackends)+len(m.UDPBackends)+len(m.StreamSnippets) > 0:
		modules = append(modules, "stream")
	}
	if modules, err = server.Load(modules...); err != nil {
		t.Skipf("needs nginx: %v", err)
	}
	opts.Root = t.TempDir()
	opts.Ports = options.Ports{HTTP: 18080, HTTPS: 18443, Default: 18181, Status: 18246, Stream: 18247, Health: 18254}
	if len(opts.Config.BindAddress) == 0 {
		opts.Config.BindAddress = []string{"127.0.0.1"}
	}
	opts.DefaultCertificate.PemFile = opts.Path(opts.DefaultCertificate.PemFile)
	here := *m
	here.DefaultSSLCertificate.PemFileName = opts.DefaultCertificate.PemFile

	in := input(opts)
	in.Modules = modules
	in.Optional = server.Available(render.OptionalModules()...)
	in.HTTP2Directive = server.AtLeast("1.25.1")
	state, err := plan.Next(&here, in)
	if err != nil {
		t.Fatal(err)
	}
	install(t, opts, state)
	if err := server.Test(t.Context(), opts.Path("/etc/nginx/nginx.conf")); err != nil {
		t.Errorf("%v\n%s", err, state.Conf)
	}
}

func install(t *testing.T, opts options.Options, state plan.State) {
	t.Helper()
	pem, err := fakeCertificate()
	if err != nil {
		t.Fatal(err)
	}
	if err := lua.Write(opts.Path("/etc/nginx/lua")); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"/tmp/nginx", "/var/log/nginx", "/etc/ingress-controller/ssl"} {
		if err := os.MkdirAll(opts.Path(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string][]byte{
		opts.DefaultCertificate.PemFile:                        pem,
		opts.Path("/etc/nginx/nginx.conf"):                     state.Conf,
		filepath.Join(opts.Path("/etc/nginx/lua"), "cfg.json"): state.LuaConfig,
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The bound on paths in package model is nginx's: what it lets through, nginx takes.
func TestTheLongestPathFitsIntoNginx(t *testing.T) {
	opts := parse(flags{}, nil).Options
	for _, path := range []string{"/" + strings.Repeat("a", 3997), "/" + strings.Repeat("$", 234), "/" + strings.Repeat("\\", 1998)} {
		cluster := populate(1)
		cluster.ingresses[0].Spec.Rules[0].HTTP.Paths[0].Path = path
		m, findings := model.Build(snapshot.Take(cluster), opts)
		if len(findings) > 0 {
			t.Errorf("%d bytes: %v", len(path), findings)
		}
		t.Run("nginx -t", func(t *testing.T) { testConf(t, m, opts) })
	}
}
