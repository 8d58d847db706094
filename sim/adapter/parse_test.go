package adapter

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"windtunnel.dev/internal/golden"
)

// TestBadFiles has a file for each kind of mistake, with the messages that its author sees.
func TestBadFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no bad files", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Parse("bad.yaml", archive.Files[0].Data)
			if err == nil {
				t.Fatalf("no error, parsed %+v", a)
			}
			archive.Files[1].Data = []byte(err.Error() + "\n")
			golden.Check(t, path, txtar.Format(archive))
		})
	}
}

// good is an adapter that says everything that an adapter can say.
const good = `
apiVersion: windtunnel.dev/v1
kind: Adapter
metadata: {name: good}
spec:
  summary: Everything that a file can say.
  tried: [v1]
  program: goodd
  needs: [proxyd]
  namespace: system
  inCluster: true
  serviceAccount: good.controller
  command: ["{{.Controller}}", "--root={{.Root}}", "{{if .Streams}}--streams{{end}}", "{{range .Streams}}{{.Port}}={{.Service}} {{end}}"]
  flag: "-{{.Name}} {{.Value}}"
  env: {KUBECONFIG: "{{.Kubeconfig}}", LUA: "{{.Lua}}"}
  directory: "{{.Root}}/work"
  crds: [{path: crd/own.yaml}, {module: example.com/kinds@v1.2.3, path: crd}]
  files:
  - {path: etc/proxy.cfg, content: "bind :{{.Ports.HTTP}}", mode: 0600}
  - {path: etc/lua, from: "{{.Lua}}"}
  - {path: etc/own, from: own.cfg, optional: true}
  - {path: etc/modules, link: /usr/lib/modules}
  - {path: etc/webhook.pem, content: "{{.Webhook.Certificate}}{{.Webhook.Key}}", when: "{{.Webhook.Key}}"}
  - {path: etc/empty, when: '{{.Supports "empty"}}'}
  configMap: "{{.Namespace}}/settings"
  streams: {tcp: "{{.Namespace}}/tcp", udp: "{{.Namespace}}/udp"}
  webhook: /review
  ingressClass: {controller: "example.com/{{.Namespace}}"}
  userAgent: good/
  health:
  - {url: "http://127.0.0.1:{{.Ports.Health}}/healthz", proves: it has synced}
  - {address: "127.0.0.1:{{.Ports.HTTP}}", proves: its proxy listens}
  processes: {workers: forked, master: ^proxyd }
  log:
  - {match: 'reloaded in (?P<took>\S+) because (?P<why>.*)', tells: reload}
  - {record: synced}
  keep: [etc/proxy.cfg]
  isolation: {when: "{{not .Lua}}", folders: [/etc/proxy], processes: true}
  notApplicable: [{measurements: [posts], why: its thoughts are its own}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: "{{.Namespace}}"}
data: {http-port: "{{.Ports.HTTP}}", "{{.PodName}}": "", empty: "{{.Lua}}"}
`

func mustParse(t *testing.T, text string) *Adapter {
	t.Helper()
	a, err := Parse("good.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestRelativeOriginalsCountFromTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "good.yaml")
	if err := os.WriteFile(path, []byte(good), 0o644); err != nil {
		t.Fatal(err)
	}
	a, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.Files[2].From, filepath.Join(filepath.Dir(path), "own.cfg"); got != want {
		t.Errorf("from %s, want %s", got, want)
	}
	if got, want := a.CRDs[0].Path, filepath.Join(filepath.Dir(path), "crd", "own.yaml"); got != want {
		t.Errorf("definitions from %s, want %s", got, want)
	}
	if got := a.CRDs[1].Path; got != "crd" {
		t.Errorf("a path in a module became %s", got)
	}
	if got := a.Files[1].From; got != "{{.Lua}}" {
		t.Errorf("a template became %s", got)
	}
}

func TestUses(t *testing.T) {
	a := mustParse(t, good)
	for field, want := range map[string]bool{"Lua": true, "Supports": true, "PodName": true, "Nginx": false, "Template": false} {
		if a.Uses(field) != want {
			t.Errorf("Uses(%s) is %t", field, !want)
		}
	}
}

// TestReferenceIsComplete checks that the reference has every field of the format, and of templates.
func TestReferenceIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	lacks := func(name string) bool { return !strings.Contains(string(text), "`"+name+"`") }
	for _, part := range []reflect.Type{reflect.TypeFor[Spec](), reflect.TypeFor[Processes](), reflect.TypeFor[Health](), reflect.TypeFor[Isolation](), reflect.TypeFor[CRDs]()} {
		for field := range part.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("yaml"), ","); lacks(name) {
				t.Errorf("docs/adapters.md lacks %s of %v", name, part)
			}
		}
	}
	for field := range reflect.TypeFor[Data]().Fields() {
		if field.Name != "Help" && field.Name != "Ports" && field.Name != "APIServer" && lacks("."+field.Name) {
			t.Errorf("docs/adapters.md lacks .%s", field.Name)
		}
	}
	for field := range reflect.TypeFor[Ports]().Fields() {
		if lacks("."+field.Name) && lacks(".Ports."+field.Name) {
			t.Errorf("docs/adapters.md lacks .Ports.%s", field.Name)
		}
	}
	for field := range reflect.TypeFor[APIServer]().Fields() {
		if lacks("."+field.Name) && lacks(".APIServer."+field.Name) {
			t.Errorf("docs/adapters.md lacks .APIServer.%s", field.Name)
		}
	}
}
