package kubeapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/golden"
)

const widgetManifest = `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a, namespace: default}
spec: {host: a.example, free: {any: thing}}
`

func TestKubectlWithCustomResources(t *testing.T) {
	t.Parallel()
	s := start(t)
	k := newKubectl(t, s)
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	k.run("apply", "-f", file("definition.yaml", widgetDefinition))
	k.run("wait", "--for=condition=Established", "crd/widgets.example.com", "--timeout=10s")
	manifest := file("widget.yaml", widgetManifest)
	if out := k.run("apply", "-f", manifest); out != "widget.example.com/a created\n" {
		t.Errorf("applied: %s", out)
	}
	if out := k.run("apply", "-f", manifest); !strings.Contains(out, "unchanged") {
		t.Errorf("applied again: %s", out)
	}
	changed := file("changed.yaml", strings.Replace(widgetManifest, "a.example", "b.example", 1))
	if out := k.run("apply", "-f", changed); !strings.Contains(out, "configured") {
		t.Errorf("applied a change: %s", out)
	}
	k.fails(`unknown field "spec.colour"`, "apply", "-f", file("typo.yaml", strings.Replace(widgetManifest, "host:", "colour: red, host:", 1)))
	k.fails("spec.host: Too long", "apply", "-f", file("long.yaml", strings.Replace(widgetManifest, "a.example", strings.Repeat("a", 30), 1)))
	golden.Check(t, "testdata/custom.txtar", k.transcript(
		"get wd",
		"get widgets.v1beta1.example.com",
		`patch widget a --type=merge -p {"spec":{"mode":"slow"}}`,
		`patch widget a --subresource=status --type=merge -p {"status":{"ready":true}}`,
		"get widget a -o wide",
		"get widget a -o jsonpath={.apiVersion}/{.kind}/{.spec}/{.status}",
		"get all",
		"explain widget.spec",
		"scale widget a --replicas=4",
		"get widgets -A",
		"label widget a tier=front",
		"get crd",
		"api-resources --api-group=example.com --no-headers",
		"delete widget a",
		"get widgets",
		"delete crd widgets.example.com",
	))
	k.fails("the server could not find the requested resource", "get", "widgets")
}
