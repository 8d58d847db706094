package side

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/tls"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/clusterfiles"
	"windtunnel.dev/sim/scenario"
)

// edit is a change of a file of our template: was becomes now.
type edit struct{ file, was, now string }

// line returns the line of the first line break or character that differs between was and now.
func (e edit) line(t *testing.T) int {
	t.Helper()
	text := render.Files()[e.file]
	if strings.Count(text, e.was) != 1 {
		t.Fatalf("%s has %q %d times, want it once: the test needs another text", e.file, e.was, strings.Count(text, e.was))
	}
	return 1 + strings.Count(text[:strings.Index(text, e.was)], "\n")
}

// write writes our template with the edit, and returns the folder.
func (e edit) write(t *testing.T) string {
	t.Helper()
	e.line(t)
	folder := t.TempDir()
	for name, text := range render.Files() {
		if name == e.file {
			text = strings.Replace(text, e.was, e.now, 1)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// regressions are changes of our template that change what nginx does. Each begins at the line that the
// report must name.
var regressions = []edit{
	{"proxy.tmpl", "{{ $module }}_buffering {{ $proxy.ProxyBuffering }};", "{{ $module }}_buffering off;"},
	{"proxy.tmpl", "{{ $module }}_read_timeout {{ $proxy.ReadTimeout }}s;", ""},
	{"proxy.tmpl", `{{- if ne $module "grpc" }}`, `{{- if eq $module "fastcgi" }}`},
	{"proxy.tmpl", `{{- if eq $proxy.ProxyRedirectFrom "default" }}`, `{{- if eq $proxy.ProxyRedirectFrom "none" }}`},
	{"proxy.tmpl", "{{- $module := .Module -}}", `{{- $module := "proxy" -}}`},
	{"cors.tmpl", "{{- with .Location.CorsConfig }}{{ if .CorsEnabled }}", "{{- with .Location.CorsConfig }}{{ if false }}"},
	{"cors.tmpl", `set $cors_credentials {{ if .CorsAllowCredentials }}"true"`, `set $cors_credentials {{ if not .CorsAllowCredentials }}"true"`},
	{"cors.tmpl", "return 204;", "return 200;"},
	{"access.tmpl", "deny all;", "allow all;"},
	{"access.tmpl", "satisfy {{ . }};", ""},
	{"auth.tmpl", "auth_request {{ $.AuthNames.Location }};", "auth_request off;"},
	{"auth.tmpl", "{{- with $.AuthNames.Signin }}", "{{- if not $.AuthNames.Signin }}"},
	{"requestheaders.tmpl", `{{ $.Set "Upgrade" }} $http_upgrade;`, `{{ $.Set "Upgrade" }} "";`},
	{"location.tmpl", "client_max_body_size {{ $location.Proxy.BodySize }};", "client_max_body_size 1m;"},
	{"location.tmpl", `{{ template "access.tmpl" . }}`, ""},
	{"location.tmpl", "{{ if not $location.Logs.Access }}", "{{ if $location.Logs.Access }}"},
	{"server.tmpl", "{{- with .AppRoot }}", `{{- with "" }}`},
	{"http.tmpl", "keepalive_requests {{ $cfg.KeepAliveRequests }};", "keepalive_requests 1;"},
	{"http.tmpl", "server_tokens {{ if $cfg.ShowServerTokens }}on{{ else }}off{{ end }};", "server_tokens on;"},
	{"limits.tmpl", "{{ range buildRateLimitZones .Servers }}", "{{ range slice (buildRateLimitZones .Servers) 0 0 }}"},
	{"server.tmpl", "location {{ $all.HealthzURI }} {", "location = {{ $all.HealthzURI }} {"},
	{"cors.tmpl", "set $cors_origin \"\";\nset $cors_credentials \"\";", "set $cors_credentials \"\";\nset $cors_origin \"\";"},
}

// harmless are changes of our template that nginx does not notice.
var harmless = []edit{
	{"cors.tmpl", "# A preflight request", "# Another comment about a preflight request"},
	{"cors.tmpl", "# A preflight request of the browser, which pods do not get.\n", ""},
	{"location.tmpl", "set $location_path", "\n\n   # where it is\n\tset   $location_path"},
	{"http.tmpl", "tcp_nopush on;\ntcp_nodelay on;", "tcp_nodelay on;\ntcp_nopush on;"},
	{"http.tmpl", "keepalive_timeout {{ $cfg.KeepAlive }}s;\nkeepalive_requests", "keepalive_timeout\n\t{{ $cfg.KeepAlive }}s\n;\nkeepalive_requests"},
	{"http.tmpl", "tcp_nopush on;\n", "tcp_nopush \"on\"; "},
	{"http.tmpl", "lua_shared_dict luaconfig 5m;", "lua_shared_dict 'luaconfig' 5m;"},
	{"proxy.tmpl", "{{ $module }}_connect_timeout {{ $proxy.ConnectTimeout }}s;\n{{ $module }}_send_timeout {{ $proxy.SendTimeout }}s;", "{{ $module }}_send_timeout {{ $proxy.SendTimeout }}s;\n{{ $module }}_connect_timeout {{ $proxy.ConnectTimeout }}s;"},
	{"proxy.tmpl", `{{- if ne $module "grpc" }}`, `{{- if not (eq $module "grpc") }}`},
	{"proxy.tmpl", "{{- $proxy := .Proxy -}}", "{{- $same := . -}}\n{{- $proxy := $same.Proxy -}}"},
	{"proxy.tmpl", "{{ $module }}_next_upstream_tries {{ $proxy.NextUpstreamTries }};", `{{ printf "%s_next_upstream_tries %v" $module $proxy.NextUpstreamTries }};`},
	{"access.tmpl", "{{- range .Location.Denylist.CIDR }}", "{{- range $network := .Location.Denylist.CIDR }}"},
	{"access.tmpl", "satisfy {{ . }};\n{{- end }}", "satisfy {{ . }}; # all or any\n{{- end }}"},
	{"responseheaders.tmpl", "{{- range .HideHeaders }}", "{{- $hidden := .HideHeaders }}{{ range $hidden }}"},
	{"location.tmpl", "{{ template \"access.tmpl\" . }}\n{{ template \"auth.tmpl\" . }}", "{{ template \"auth.tmpl\" . }}\n{{ template \"access.tmpl\" . }}"},
	{"location.tmpl", "port_in_redirect {{ if $location.UsePortInRedirects }}on{{ else }}off{{ end }};", "port_in_redirect {{ if not $location.UsePortInRedirects }}off{{ else }}on{{ end }};"},
	{"location.tmpl", "{{ if not $location.Logs.Access }}\naccess_log off;\n{{- end }}", "{{ if $location.Logs.Access }}{{ else }}access_log off;{{ end }}"},
	{"server.tmpl", "## start server {{ $server.Hostname }}\n", ""},
	{"server.tmpl", "return 302 {{ quote (print", "return   302\n{{ quote (print"},
	{"top.tmpl", "worker_rlimit_nofile {{ $cfg.MaxWorkerOpenFiles }};\nworker_shutdown_timeout {{ $cfg.WorkerShutdownTimeout }};", "worker_shutdown_timeout {{ $cfg.WorkerShutdownTimeout }};\nworker_rlimit_nofile {{ $cfg.MaxWorkerOpenFiles }};"},
	{"bottom.tmpl", "{{ template \"default.tmpl\" . }}\n{{ template \"status.tmpl\" . }}", "{{ template \"status.tmpl\" . }}\n{{ template \"default.tmpl\" . }}"},
	{"auth.tmpl", "{{- with $.AuthNames.Signin }}", "{{- $signin := $.AuthNames.Signin }}{{ with $signin }}"},
}

// bench compares our template with changed ones, on the clusters of testdata.
type bench struct {
	base     *Side
	clusters []regress.Cluster
}

func newBench(t *testing.T) bench {
	t.Helper()
	nginxtest.Find(t, "http_lua")
	clusters, _, err := clusterfiles.Read([]string{"testdata"}, behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.Fake(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	base, err := open(scenario.Subject{}, sideFolder(t), kind{certificate: certificate, ownTemplate: true})
	if err != nil {
		t.Fatal(err)
	}
	return bench{base, clusters}
}

// sideFolder returns a folder that nginx's workers can enter.
func sideFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for dir := folder; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// run compares our template with one that has an edit.
func (b bench) run(t *testing.T, e edit, minimise bool, parts ...regress.Part) *regress.Report {
	t.Helper()
	folder := e.write(t)
	read, err := readTemplate(folder, "", true)
	if err != nil {
		t.Fatal(err)
	}
	var head *Side
	if slices.Contains(parts, regress.TestedPart) {
		if head, err = open(scenario.Subject{Template: folder}, sideFolder(t), kind{certificate: b.base.rendering.Options.DefaultCertificate, ownTemplate: true}); err != nil {
			t.Fatal(err)
		}
	} else {
		head = &Side{rendering: b.base.rendering, template: read, class: b.base.class}
		head.rendering.Template = read
	}
	r, err := regress.Run(t.Context(), regress.Options{Base: b.base, Head: head, Clusters: b.clusters, Parts: parts, Minimise: minimise})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Each regression is reported, and each kind of difference that it causes names its line.
func TestRegressionsAreReportedAtTheirLine(t *testing.T) {
	b := newBench(t)
	for i, e := range regressions {
		t.Run(fmt.Sprint(i, " ", e.file), func(t *testing.T) {
			want := regress.Site{File: e.file, Line: e.line(t)}
			r := b.run(t, e, false, regress.RenderedPart)
			if r.Outcome != regress.Differs || len(r.Kinds) == 0 {
				t.Fatalf("outcome %s with %d kinds, want a difference", r.Outcome, len(r.Kinds))
			}
			for _, k := range r.Kinds {
				if k.Cause == nil {
					t.Errorf("%s %s: no cause, want %s", k.Change, k.Directive, want)
				} else if k.Cause.Site != want {
					t.Errorf("%s %s: caused by %s, want %s", k.Change, k.Directive, k.Cause.Site, want)
				}
			}
		})
	}
}

func TestHarmlessEditsAreNotReported(t *testing.T) {
	b := newBench(t)
	for i, e := range harmless {
		t.Run(fmt.Sprint(i, " ", e.file), func(t *testing.T) {
			r := b.run(t, e, false, regress.RenderedPart)
			if r.Outcome != regress.Same {
				for _, k := range r.Kinds {
					t.Errorf("%s: %s %s, was %s, in %s", r.Outcome, k.Change, k.Directive, k.Was, k.Place)
				}
				for _, f := range r.Failures {
					t.Errorf("%s: %s", f.Sides, f.Reason)
				}
			}
		})
	}
}

// The smallest cluster has what the difference needs, and nothing else.
func TestDifferencesAreMinimised(t *testing.T) {
	b := newBench(t)
	r := b.run(t, edit{"cors.tmpl", "return 204;", "return 200;"}, true, regress.RenderedPart)
	if len(r.Kinds) != 1 {
		t.Fatalf("%d kinds, want one", len(r.Kinds))
	}
	for _, k := range r.Kinds {
		if k.Minimal == nil {
			t.Fatalf("%s %s: no smallest cluster", k.Change, k.Directive)
		}
		if want := []string{"Ingress shop/cors"}; !slices.Equal(k.Minimal.Objects, want) {
			t.Errorf("objects %v, want %v", k.Minimal.Objects, want)
		}
		if want := []string{"annotation enable-cors"}; !slices.Equal(k.Needs, want) {
			t.Errorf("needs %v, want %v", k.Needs, want)
		}
		if !slices.Equal(k.Objects, []string{"Ingress shop/cors"}) {
			t.Errorf("affected objects %v, want those with the annotation", k.Objects)
		}
		if _, err := regress.NewCluster("minimal", []byte(k.Minimal.Manifests)).Source(); err != nil {
			t.Errorf("the smallest cluster cannot be read: %v", err)
		}
	}
}

// A refusal of nginx -t is reported with the template's line and the ingress.
func TestRefusalsNameTheLineAndTheObject(t *testing.T) {
	b := newBench(t)
	e := edit{"access.tmpl", "satisfy {{ . }};", "satisfy {{ . }} please;"}
	r := b.run(t, e, true, regress.TestedPart)
	if len(r.Failures) != 1 || r.Outcome != regress.Differs {
		t.Fatalf("outcome %s with %d failures, want one: %+v %v", r.Outcome, len(r.Failures), r.Failures, r.Untested)
	}
	f := r.Failures[0]
	want := regress.Site{File: e.file, Line: e.line(t)}
	if f.Stage != regress.StageTest || f.Sides != regress.SideHead || f.Cause == nil || f.Cause.Site != want {
		t.Errorf("failure %+v caused by %v, want a refusal of head caused by %s", f, f.Cause, want)
	}
	if f.Object != "Ingress shop/access" || f.Text != "satisfy any please;" {
		t.Errorf("object %q, line %q", f.Object, f.Text)
	}
	if f.Minimal == nil || !slices.Equal(f.Needs, []string{"annotation satisfy"}) {
		t.Errorf("needs %v with the smallest cluster %v, want only the annotation satisfy", f.Needs, f.Minimal)
	}
}

// A template that fails on some clusters is reported with its line.
func TestErrorsOfTemplatesAreReported(t *testing.T) {
	b := newBench(t)
	e := edit{"cors.tmpl", "return 204;", "return {{ index .CorsAllowMethods 100 }};"}
	r := b.run(t, e, true, regress.RenderedPart)
	if len(r.Failures) != 1 {
		t.Fatalf("%d failures, want one", len(r.Failures))
	}
	f := r.Failures[0]
	want := regress.Site{File: e.file, Line: e.line(t)}
	if f.Stage != regress.StageRender || f.Sides != regress.SideHead || f.Cause == nil || f.Cause.Site != want {
		t.Errorf("failure %+v caused by %v, want one of head at %s", f, f.Cause, want)
	}
	if r.Clusters.Failed != 1 || !slices.Equal(f.Needs, []string{"annotation enable-cors"}) {
		t.Errorf("%+v needs %v", r.Clusters, f.Needs)
	}
}

func TestBadFlags(t *testing.T) {
	if _, err := settingsOf(map[string]string{"kubeconfig": "x"}); err == nil || !strings.Contains(err.Error(), "flag.kubeconfig is not supported here") {
		t.Error(err)
	}
	if _, err := settingsOf(map[string]string{"enable-metrics": "maybe"}); err == nil || !strings.Contains(err.Error(), "neither true nor false") {
		t.Error(err)
	}
}
