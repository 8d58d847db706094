package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/tls"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/regress"
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
	{"auth.tmpl", "auth_request {{ quote $.AuthPath }};", "auth_request off;"},
	{"auth.tmpl", "{{- if $auth.SigninURL }}", "{{- if not $auth.SigninURL }}"},
	{"headers.tmpl", `{{ $.Set "Upgrade" }} $http_upgrade;`, `{{ $.Set "Upgrade" }} "";`},
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
	{"proxy.tmpl", "{{- $proxy := .Location.Proxy -}}", "{{- $same := .Location -}}\n{{- $proxy := $same.Proxy -}}"},
	{"proxy.tmpl", "{{ $module }}_next_upstream_tries {{ $proxy.NextUpstreamTries }};", `{{ printf "%s_next_upstream_tries %v" $module $proxy.NextUpstreamTries }};`},
	{"access.tmpl", "{{- range .Location.Denylist.CIDR }}", "{{- range $network := .Location.Denylist.CIDR }}"},
	{"access.tmpl", "satisfy {{ . }};\n{{- end }}", "satisfy {{ . }}; # all or any\n{{- end }}"},
	{"headers.tmpl", "{{- range .HideHeaders }}", "{{- $hidden := .HideHeaders }}{{ range $hidden }}"},
	{"location.tmpl", "{{ template \"access.tmpl\" . }}\n{{ template \"auth.tmpl\" . }}", "{{ template \"auth.tmpl\" . }}\n{{ template \"access.tmpl\" . }}"},
	{"location.tmpl", "port_in_redirect {{ if $location.UsePortInRedirects }}on{{ else }}off{{ end }};", "port_in_redirect {{ if not $location.UsePortInRedirects }}off{{ else }}on{{ end }};"},
	{"location.tmpl", "{{ if not $location.Logs.Access }}\naccess_log off;\n{{- end }}", "{{ if $location.Logs.Access }}{{ else }}access_log off;{{ end }}"},
	{"server.tmpl", "## start server {{ $server.Hostname }}\n", ""},
	{"server.tmpl", "return 302 {{ quote (print", "return   302\n{{ quote (print"},
	{"nginx.tmpl", "worker_rlimit_nofile {{ $cfg.MaxWorkerOpenFiles }};\nworker_shutdown_timeout {{ $cfg.WorkerShutdownTimeout }};", "worker_shutdown_timeout {{ $cfg.WorkerShutdownTimeout }};\nworker_rlimit_nofile {{ $cfg.MaxWorkerOpenFiles }};"},
	{"nginx.tmpl", "{{ template \"default.tmpl\" . }}\n{{ template \"status.tmpl\" . }}", "{{ template \"status.tmpl\" . }}\n{{ template \"default.tmpl\" . }}"},
	{"auth.tmpl", "{{- if $auth.SigninURL }}", "{{- $signin := $auth.SigninURL }}{{ if $signin }}"},
}

// bench compares our template with changed ones, on the clusters of testdata/regress.
type bench struct {
	base     *ourSide
	clusters []regress.Cluster
}

func newBench(t *testing.T) bench {
	t.Helper()
	nginxtest.Find(t, "http_lua")
	clusters, _, err := readCorpus([]string{filepath.Join("testdata", "regress")})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tls.Fake(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	base, err := openSide(scenario.Subject{}, sideFolder(t), certificate, true, false)
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
	read, err := sideTemplate(folder, "", true)
	if err != nil {
		t.Fatal(err)
	}
	var head *ourSide
	if slices.Contains(parts, regress.TestedPart) {
		if head, err = openSide(scenario.Subject{Template: folder}, sideFolder(t), b.base.rendering.Options.DefaultCertificate, true, false); err != nil {
			t.Fatal(err)
		}
	} else {
		head = &ourSide{rendering: b.base.rendering, template: read, class: b.base.class}
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

// What nginx -t refuses is reported with the template's line and the ingress.
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

func TestSidesOfRevisions(t *testing.T) {
	repository := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		command := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		if out, err := command.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v: %s", args, err, out)
		}
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(repository, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "-q")
	write("rootfs/etc/nginx/template/nginx.tmpl", "first")
	write("rootfs/etc/nginx/lua/balancer.lua", "return 1")
	run("add", ".")
	run("commit", "-q", "-m", "first")
	write("rootfs/etc/nginx/template/nginx.tmpl", "second")
	run("commit", "-q", "-a", "-m", "second")
	t.Chdir(repository)

	for side, want := range map[string]string{
		"HEAD": "second", "HEAD~1": "first", ".": "second",
		"template=rootfs/etc/nginx/template/nginx.tmpl@HEAD~1":  "first",
		"bundled,template=rootfs/etc/nginx/template/nginx.tmpl": "second",
	} {
		s, err := parseSide(t.Context(), side, t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", side, err)
			continue
		}
		if text, err := os.ReadFile(s.Template); err != nil || string(text) != want {
			t.Errorf("%s: template %q, %v; want %q", side, text, err, want)
		}
	}
	if s, err := parseSide(t.Context(), "HEAD~1,config.use-gzip=true", t.TempDir()); err != nil || s.Config["use-gzip"] != "true" {
		t.Errorf("settings %v, %v", s.Config, err)
	} else if _, err := os.Stat(filepath.Join(s.Lua, "balancer.lua")); err != nil {
		t.Error(err)
	}
}

func TestBadSides(t *testing.T) {
	for side, want := range map[string]string{
		"":                                 "it is empty",
		"no-such-revision":                 "not a git revision",
		"image:example":                    "another controller",
		"bundled,nonsense":                 "not KEY=VALUE",
		"bundled,colour=red":               "unknown setting colour",
		"template=no/such@no-such":         "not a git revision",
		"template=../../../elsewhere@HEAD": "is not in the repository",
	} {
		if _, err := parseSide(t.Context(), side, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", side, err, want)
		}
	}
	if _, err := settingsOf(map[string]string{"kubeconfig": "x"}); err == nil || !strings.Contains(err.Error(), "flag.kubeconfig is not supported here") {
		t.Error(err)
	}
	if _, err := settingsOf(map[string]string{"enable-metrics": "maybe"}); err == nil || !strings.Contains(err.Error(), "neither true nor false") {
		t.Error(err)
	}
}

// A case is a cluster with its ConfigMap and its services.
func TestCasesAreClusters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "topic", "gzip.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = `apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: answers are compressed
  covers: [config/use-gzip]
  config: {use-gzip: "true"}
  pods: {web: {}}
  steps:
  - request: GET http://gzip.example/
    expect: {status: 200}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
  - host: gzip.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	all, _, err := readCorpus([]string{file, filepath.Dir(file)})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d clusters, %v; want one for a file that is named twice", len(all), err)
	}
	source, err := all[0].Source()
	if err != nil {
		t.Fatal(err)
	}
	if len(source.Ingresses()) != 1 || len(source.Services()) != 1 || len(source.ConfigMaps()) != 1 || source.ConfigMaps()[0].Data["use-gzip"] != "true" {
		t.Errorf("%v %v %v", source.Ingresses(), source.Services(), source.ConfigMaps())
	}
}

// The flags in the index of a corpus are those of all its clusters; two that differ are an error.
func TestFlagsOfACorpus(t *testing.T) {
	folder := t.TempDir()
	index := clusters.Index{Clusters: []clusters.Entry{
		{Name: "one", Flags: []string{"--configmap=a/b", "--default-backend-service=a/c"}},
		{Name: "two", Flags: []string{"--configmap=a/b"}},
		{Name: "other", Flags: []string{"--configmap=a/other"}},
	}}
	data, err := index.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, clusters.IndexFile), data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, entry := range index.Clusters {
		if err := os.WriteFile(filepath.Join(folder, entry.File()), []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, flags, err := readCorpus([]string{filepath.Join(folder, "one.yaml"), filepath.Join(folder, "two.yaml")})
	if want := map[string]string{"configmap": "a/b", "default-backend-service": "a/c"}; err != nil || len(all) != 2 || !maps.Equal(flags, want) {
		t.Errorf("%d clusters, flags %q, %v; want %q", len(all), flags, err, want)
	}
	if _, _, err := readCorpus([]string{folder}); err == nil || !strings.Contains(err.Error(), "--configmap=a/b and --configmap=a/other") {
		t.Errorf("flags that differ: %v", err)
	}
}
