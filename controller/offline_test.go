package controller

import (
	"os"
	"strings"
	"testing"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/lua"
)

func TestOfflineNeedsARoot(t *testing.T) {
	if _, err := NewOffline(Config{}); err == nil || !strings.Contains(err.Error(), "root") {
		t.Errorf("error %v, want one about the root: offline must not write to nginx's own paths", err)
	}
}

// Offline tests a configuration without starting nginx, and names the line that nginx rejects.
func TestOfflineTestsConfigurations(t *testing.T) {
	program, _ := nginxtest.Find(t, "http_lua")
	base, err := port.Free(8)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for template, want := range map[string]string{
		"events {\n}\nhttp {\n}\n":                  "",
		"events {\n}\nhttp {\n\tsendfile maybe;\n}": "sendfile maybe;",
	} {
		c := Config{Nginx: program, Lua: lua.FS}
		c.Options = options.Options{Root: root, DynamicConfiguration: true, Ports: options.Ports{
			HTTP: base, HTTPS: base + 1, Default: base + 2, Status: base + 3, Stream: base + 4, Health: base + 5, Profiler: base + 6, SSLProxy: base + 7,
		}}
		if c.Template, err = render.Parse("my.tmpl", []byte(template)); err != nil {
			t.Fatal(err)
		}
		offline, err := NewOffline(c)
		if err != nil {
			t.Fatal(err)
		}
		refusal, err := offline.Test(t.Context(), snapshot.Snapshot{})
		switch {
		case err != nil:
			t.Error(err)
		case (refusal == nil) != (want == ""):
			t.Errorf("%q: %+v, want a refusal of %q", template, refusal, want)
		case refusal != nil && (refusal.LineText != want || refusal.Line == 0 || !strings.Contains(refusal.Reason, "invalid value")):
			t.Errorf("%+v, want a refusal of %q", refusal, want)
		}
	}
}
