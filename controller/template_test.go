package controller

import (
	"os"
	"strings"
	"testing"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/nginxtest"
)

// The start fails if a template needs a feature that nginx lacks. The error contains the template's
// line.
func TestUnsupportedTemplateIsRefusedAtTheStart(t *testing.T) {
	program, _ := nginxtest.Find(t)
	for name, test := range map[string]struct{ text, want string }{
		"it works":             {"http {\nserver {\n{{ if .Cfg.UseHTTP2 }}http2 on;{{ end }}\n}\n}\n", ""},
		"it does not render":   {"http {\n{{ .Cfg.NoSuchKey }}\n}\n", "--nginx-template: my.tmpl:2:7: "},
		"it renders nothing":   {"{{ range .Servers }}{{ end }}\n", "--nginx-template: my.tmpl: the template renders nothing"},
		"stream-lua":           {"stream {\nserver {\n  preread_by_lua_block {\n  }\n}\n}\n", ""},
		"digest":               {"http {\nserver {\n  auth_digest off;\n}\n}\n", "--nginx-template: my.tmpl:3: auth_digest: nginx has no module http_auth_digest"},
		"written by an action": {"http {\n{{ print \"auth_digest off;\" }}\n}\n", "--nginx-template: my.tmpl: auth_digest: "},
	} {
		t.Run(name, func(t *testing.T) {
			if program.Has("http_auth_digest") && strings.Contains(test.want, "auth_digest") {
				t.Skip("this nginx has the module for digest authentication")
			}
			opts := options.Options{Config: options.Defaults(1, false), Ports: options.DefaultPorts, Root: t.TempDir(), DynamicConfiguration: true, Stream: streamOf(program)}
			if err := os.MkdirAll(opts.Path("/etc/nginx"), 0o755); err != nil {
				t.Fatal(err)
			}
			template, err := render.Parse("my.tmpl", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			err = checkTemplate(compile.Input{Input: render.Input{Options: opts, Template: template}}, program)
			if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
