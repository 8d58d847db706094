package render_test

import (
	"bytes"
	"strings"
	"testing"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

func input() render.Input {
	return render.Input{Options: options.Options{
		Config: options.Defaults(2, true), Ports: options.DefaultPorts, DynamicConfiguration: true, Root: "/srv/a",
	}}
}

func empty(in render.Input) *model.Model {
	m, _ := model.Build(snapshot.Snapshot{}, in.Options)
	return m
}

func conf(t *testing.T, change func(*render.Input)) string {
	t.Helper()
	in := input()
	change(&in)
	text, err := render.Render(empty(in), in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTemplateErrorsHaveFileAndLine(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"does not parse":  {"a;\n{{ if }}\n", "/etc/my/nginx.tmpl:2: missing value for if"},
		"no such name":    {"a;\n\n{{ buildNothing . }}\n", `/etc/my/nginx.tmpl:3: function "buildNothing" not defined`},
		"does not run":    {"a;\n{{ .Cfg.NoSuchKey }}\n", "/etc/my/nginx.tmpl:2:7: "},
		"wrong arguments": {"{{ buildServerName 1 }}\n", "/etc/my/nginx.tmpl:1:19: "},
	} {
		t.Run(name, func(t *testing.T) {
			in := input()
			var err error
			in.Template, err = render.Parse("/etc/my/nginx.tmpl", []byte(test.text))
			if err == nil {
				_, err = render.Render(empty(in), in)
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line that begins with %s", err, test.want)
			}
		})
	}
}

func TestUserTemplateReplacesOurs(t *testing.T) {
	got := conf(t, func(in *render.Input) {
		var err error
		in.Template, err = render.Parse("nginx.tmpl", []byte(`http {
{{ range $server := .Servers }}
{{ $both := serverConfig $ $server }}
server { # {{ $both.Second.Hostname }} of {{ len $both.First.Servers }}
{{ buildHTTPListener $both.First $server.Hostname }}
}


{{ end }}
}`))
		if err != nil {
			t.Fatal(err)
		}
	})
	want := `http {

	server { # _ of 1
		listen 80 default_server reuseport backlog=511;
	}

}
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestConfigKeysReachNginx(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*render.Input)
		with   []string
		not    []string
	}{
		"all of ours is below the root": {func(*render.Input) {},
			[]string{`"/srv/a/etc/nginx/lua/ngx_conf_init.lua"`, `pid "/srv/a/tmp/nginx/nginx.pid";`, `access_log "/srv/a/var/log/nginx/access.log"`},
			[]string{`"/etc/`, `"/tmp/`, `"/var/`}},
		"addresses": {func(in *render.Input) { in.Options.Config.BindAddress, in.IPv6 = []string{"127.0.0.2", "::1"}, true },
			[]string{"listen 127.0.0.2:80 default_server", "listen [::1]:443 default_server", "listen 127.0.0.1:8181 default_server"},
			[]string{"listen 80", "listen [::]"}},
		"addresses without IPv6": {func(in *render.Input) { in.Options.Config.BindAddress = []string{"127.0.0.2", "::1"} },
			[]string{"listen 127.0.0.2:80"}, []string{"[::1]"}},
		"IPv6": {func(in *render.Input) { in.IPv6 = true },
			[]string{"listen [::]:80 default_server", "listen 443 default_server", "allow ::1;"}, nil},
		"HTTP/2 as a parameter of listen": {func(*render.Input) {},
			[]string{"listen 443 default_server reuseport backlog=511 ssl http2;"}, []string{"http2 on;"}},
		"HTTP/2 as a directive": {func(in *render.Input) { in.HTTP2Directive = true },
			[]string{"listen 443 default_server reuseport backlog=511 ssl;", "http2 on;"}, []string{"ssl http2"}},
		"no HTTP/2": {func(in *render.Input) { in.Options.Config.UseHTTP2 = false },
			[]string{"listen 443 default_server reuseport backlog=511 ssl;"}, []string{"http2"}},
		"PROXY protocol": {func(in *render.Input) { in.Options.Config.UseProxyProtocol = true },
			[]string{"listen 80 proxy_protocol default_server", "real_ip_header proxy_protocol;", "set_real_ip_from 0.0.0.0/0;"}, nil},
		"one socket for all workers": {func(in *render.Input) { in.Options.Config.ReusePort = false },
			[]string{"listen 80 default_server backlog=511;"}, []string{"reuseport"}},
		"modules": {func(in *render.Input) { in.Modules = []string{"/m/a.so", "/m/b.so"} },
			[]string{"load_module \"/m/a.so\";\nload_module \"/m/b.so\";\n"}, nil},
		"sizes from the machine": {func(in *render.Input) {
			in.FileLimit, in.Options.Config.MaxWorkerConnections, in.Backlog = 9216, 0, 4096
		},
			[]string{"worker_rlimit_nofile 8192;", "worker_connections 6144;", "backlog=4096"}, nil},
		"no keep-alive to pods": {func(in *render.Input) { in.Options.Config.UpstreamKeepaliveConnections = 0 },
			[]string{"'' close;"}, []string{"keepalive_requests 10000"}},
		"name servers": {func(in *render.Input) { in.Resolvers = []string{"10.0.0.1", "fe80::1"} },
			[]string{"resolver 10.0.0.1 [fe80::1] valid=30s;"}, nil},
		"POST asks the next pod, too": {func(in *render.Input) { in.Options.Config.RetryNonIdempotent = true },
			[]string{"proxy_next_upstream error timeout non_idempotent;"}, nil},
		"dictionaries": {func(in *render.Input) { in.Options.Config.LuaSharedDicts["configuration_data"] = 30 * 1024 },
			[]string{"lua_shared_dict configuration_data 30M;", "client_max_body_size 31M;"}, nil},
		"snippets": {func(in *render.Input) {
			c := &in.Options.Config
			c.MainSnippet, c.HTTPSnippet, c.ServerSnippet, c.LocationSnippet = "main_s;", "http_s;", "server_s;", "location_s;"
		}, []string{"\nmain_s;", "\n\thttp_s;", "\n\t\tserver_s;", "\n\t\t\tlocation_s;"}, nil},
		"logs": {func(in *render.Input) {
			c := &in.Options.Config
			c.AccessLogPath, c.AccessLogParams, c.SkipAccessLogURLs, c.LogFormatEscapeJSON = "/dev/stdout", "buffer=4k", []string{"/health", `~^/a\.b`}, true
		}, []string{`access_log "/dev/stdout" upstreaminfo buffer=4k if=$loggable;`, `"/health" 0;`, `"~^/a\\.b" 0;`, "upstreaminfo escape=json"}, nil},
		"no access log": {func(in *render.Input) { in.Options.Config.DisableAccessLog = true },
			[]string{"\n\taccess_log off;"}, []string{"access.log"}},
		"forwarded headers": {func(in *render.Input) {
			in.Options.Config.UseForwardedHeaders, in.Options.Config.ComputeFullForwardedFor = true, true
		}, []string{"X-Forwarded-For $full_x_forwarded_for;", "$http_x_forwarded_for, $peer_addr"}, nil},
		"reload mode": {func(in *render.Input) { in.Options.DynamicConfiguration = false },
			[]string{"upstream upstream-default-backend {", "server 127.0.0.1:8181 max_fails=0;", "proxy_pass http://upstream-default-backend;", "rewrite_by_lua_block { lua_ingress.rewrite() }"},
			[]string{"upstream_balancer", "balancer_by_lua", "ngx_rewrite.lua"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := conf(t, test.change)
			for _, want := range test.with {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, not := range test.not {
				if strings.Contains(got, not) {
					t.Errorf("%q in\n%s", not, got)
				}
			}
		})
	}
}

func TestHashSizesGrowWithHosts(t *testing.T) {
	in := input()
	m := empty(in)
	for range 20 {
		m.Servers = append(m.Servers, &model.Server{Hostname: strings.Repeat("x", 110)})
	}
	got, err := render.Render(m, in)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"server_names_hash_max_size 4096;", "server_names_hash_bucket_size 128;"} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("no %q", want)
		}
	}
}

// The configuration has exactly one user directive. That in main-snippet takes precedence.
func TestUser(t *testing.T) {
	for snippet, want := range map[string]int{"": 1, "env A;": 1, "# user\nuser root;": 0, "env A; user root;": 0, "  user\tdaemon;": 0, "env user;": 1} {
		text := conf(t, func(in *render.Input) {
			in.User = "nobody nogroup"
			in.Options.Config.MainSnippet = snippet
		})
		if got := strings.Count(text, "\nuser nobody nogroup;"); got != want {
			t.Errorf("main-snippet %q: %d times", snippet, got)
		}
	}
}
