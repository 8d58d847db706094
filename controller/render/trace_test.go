package render_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

func traced(t *testing.T) (*model.Model, render.Input) {
	t.Helper()
	source, err := snapshot.FromYAML(snapshot.File{Name: "shop.yaml", Data: []byte(`
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: shop
  annotations:
    nginx.ingress.kubernetes.io/enable-cors: "true"
    nginx.ingress.kubernetes.io/limit-rps: "5"
    nginx.ingress.kubernetes.io/auth-url: http://auth.example.com/
spec:
  rules:
  - host: shop.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
      - {path: '/odd "#@1', pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}
`)})
	if err != nil {
		t.Fatal(err)
	}
	in := render.Input{Options: options.Options{Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true}}
	built, _ := model.Build(snapshot.Take(source), in.Options)
	return built, in
}

// Tracing does not change nginx.conf, with our template, with our template as a user's, and with an
// nginx that lacks modules that a template loads or uses.
func TestTracingRendersTheSame(t *testing.T) {
	built, in := traced(t)
	own, err := render.ParseFolder("own", render.Files())
	if err != nil {
		t.Fatal(err)
	}
	in.Modules = []string{"/usr/lib/nginx/modules/a.so"}
	for _, template := range []*render.Template{nil, own} {
		for _, stream := range []options.Stream{options.LuaStream, options.PlainStream, options.NoStream} {
			in.Template, in.Options.Stream = template, stream
			want, err := render.Render(built, in)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := render.RenderTraced(built, in)
			if err != nil {
				t.Fatal(err)
			}
			if d := diff.Diff("want", want, "got", got); d != nil {
				t.Logf("%s", d)
				t.Errorf("own template %v, stream %v: the traced nginx.conf differs", template != nil, stream)
			}
		}
	}
}

// Each line of nginx.conf comes from a template line that contains its first word, or an action.
func TestEachLineHasAnOrigin(t *testing.T) {
	built, in := traced(t)
	conf, trace, err := render.RenderTraced(built, in)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for name, text := range render.Files() {
		files[name] = strings.Split(text, "\n")
	}
	for i, line := range strings.Split(string(conf), "\n") {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "" {
			continue
		}
		origins := trace.Of(i + 1)
		if len(origins) == 0 {
			t.Errorf("line %d has no origin: %s", i+1, line)
			continue
		}
		site := origins[0][0]
		written := files[site.File][site.Line-1]
		if !strings.Contains(written, word) && !strings.Contains(written, "{{") {
			t.Errorf("line %d, %q, comes from %s: %q", i+1, line, site, written)
		}
	}
	if trace.Of(0) != nil || trace.Of(1_000_000) != nil {
		t.Error("lines that do not exist have an origin")
	}
}

// An origin lists the conditions, loops and calls around a line, innermost first.
func TestOriginsListEnclosingNodes(t *testing.T) {
	built, in := traced(t)
	files := map[string]string{
		"nginx.tmpl": "http {\n{{ range .Servers }}\n{{ template \"server.tmpl\" . }}\n{{ end }}\n}\n",
		"server.tmpl": "server {\n{{- if .Hostname }}\nserver_name {{ .Hostname\n }};{{ else }}\nreturn 404;\n{{ end }}\n}\n" +
			"{{ define \"unused\" }}never;{{ end }}",
	}
	var err error
	if in.Template, err = render.ParseFolder("folder", files); err != nil {
		t.Fatal(err)
	}
	conf, trace, err := render.RenderTraced(built, in)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for i, line := range strings.Split(string(conf), "\n") {
		if strings.Contains(line, "server_name") {
			found[fmt.Sprint(trace.Of(i+1))] = true
		}
	}
	want := "[[folder/server.tmpl:3 folder/server.tmpl:2 folder/nginx.tmpl:3 folder/nginx.tmpl:2]"
	if all := slices.Collect(maps.Keys(found)); len(all) != 1 || !strings.HasPrefix(all[0], want) {
		t.Errorf("%v, want %s", all, want)
	}
}

func TestTracingReportsErrors(t *testing.T) {
	built, in := traced(t)
	var err error
	if in.Template, err = render.Parse("nginx.tmpl", []byte("a;\n{{ .NoSuchField }}")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := render.RenderTraced(built, in); err == nil || !strings.HasPrefix(err.Error(), "nginx.tmpl:2:") {
		t.Errorf("%v, want the line", err)
	}
}
