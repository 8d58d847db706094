package controller_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
)

// answering returns a template with which nginx answers every request with a text. Its status
// server implements only what the controller needs.
func answering(text string) string {
	return `daemon off;
worker_processes 1;
pid {{ .PID }};
error_log {{ .Cfg.ErrorLogPath }};
{{ range .Modules }}load_module {{ . }};
{{ end }}
events {}
http {
access_log off;
server { listen 127.0.0.1:{{ .StatusPort }}; location = /configuration/workers { return 404; } location /is { return 200; } location / { return 201; } }
server { listen 127.0.0.1:{{ .ListenPorts.HTTP }} default_server; return 200 "` + text + `"; }
}
`
}

func TestTemplateIsUsedAsSoonAsItIsWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "nginx.tmpl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	write(answering("one"))
	r := launchAs(t, true, func(c *controller.Config) {
		text, err := os.ReadFile(file)
		if err == nil {
			c.Template, err = render.Parse(file, text)
		}
		if err != nil {
			t.Error(err)
		}
		c.TemplateFile = file
	})
	r.log.next("ready")
	r.awaitAnswer("one")
	write(answering("two"))
	r.log.next("the new template is in use")
	r.awaitAnswer("two")

	for name, bad := range map[string]struct{ text, want string }{
		"no template":         {"{{ if", file + ":1: "},
		"fails when rendered": {answering("{{ .NoSuchField }}"), file + ":11:"},
		"nginx rejects it":    {answering("three") + "no_such_directive;\n", file + `:13: no_such_directive;: testing the configuration: [emerg] unknown directive "no_such_directive"`},
	} {
		t.Run(name, func(t *testing.T) {
			write(bad.text)
			r := *r
			r.T = t
			if line := r.log.next("the new template is rejected, the old one stays in use"); !strings.Contains(line.Error, bad.want) {
				t.Errorf("record %+v, want %s", line, bad.want)
			}
			if got := r.get(r.ports.HTTP, "web.example", "/"); got != "two" {
				t.Errorf("nginx answers %q", got)
			}
		})
	}
	r.service(pod(t, "127.88.0.1", "pod")) // changes of the cluster use the old template
	r.awaitSync(posted)
	write(answering("four"))
	r.awaitAnswer("four")
}

// The start fails if nginx rejects the template. The error names the template's line, the directive
// and the rendered configuration, which is kept.
func TestStartFailsIfNginxRefusesTheTemplate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"one file": {answering("one") + "no_such_directive;\n", `my.tmpl:13: no_such_directive;: testing the configuration: [emerg] unknown directive "no_such_directive"`},
		"a value":  {strings.Replace(answering("one"), "worker_processes 1", "worker_processes {{ .Cfg.ErrorLogPath }}", 1), `my.tmpl:2: worker_processes `},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := render.Parse("my.tmpl", []byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			r := launchAs(t, true, func(c *controller.Config) { c.Template = read })
			err = r.ended()
			kept := filepath.Join(r.root, "etc/nginx/nginx.conf.next")
			for _, want := range []string{"--nginx-template: " + test.want, kept + ":", "the rejected configuration is " + kept} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
			if text, err := os.ReadFile(kept); err != nil || len(text) == 0 {
				t.Errorf("%s contains %q, %v", kept, text, err)
			}
		})
	}
}

// nginx accepts the configuration, but no sync can start or configure nginx with it.
func TestStartFailsIfNoSyncCouldComplete(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ lacks, want string }{
		"background": {"daemon off;", "--nginx-template: the line `daemon off;` is missing"},
		"no status":  {"listen 127.0.0.1:{{ .StatusPort }};", "--nginx-template: nothing listens at the status port"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := render.Parse("my.tmpl", []byte(strings.Replace(answering("one"), test.lacks, "", 1)))
			if err != nil {
				t.Fatal(err)
			}
			r := launchAs(t, true, func(c *controller.Config) { c.Template = read })
			if err := r.ended(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// A template may need values of the ConfigMap.
func TestTemplateThatNeedsTheConfigMap(t *testing.T) {
	t.Parallel()
	text := strings.Replace(answering("one"), "http {", "{{ if not .Cfg.HTTPSnippet }}no_such_directive;{{ end }}\nhttp {", 1)
	r := launchAs(t, true, func(c *controller.Config) {
		var err error
		if c.Template, err = render.Parse("my.tmpl", []byte(text)); err != nil {
			t.Error(err)
		}
	}, func(r *running) {
		r.configure(map[string]string{"http-snippet": "# mine"}, r.client.CoreV1().ConfigMaps("default").Update)
	})
	r.log.next("ready")
	r.awaitAnswer("one")
}

func TestGeoIPDatabases(t *testing.T) {
	t.Parallel()
	r := launchAs(t, true, func(c *controller.Config) {
		template, err := render.Parse("my.tmpl", []byte(strings.Replace(answering("{{ .MaxmindEditionFiles }}"), "http {", `http {
# {{ range .MaxmindEditionFiles }}/etc/ingress-controller/geoip/{{ . }} {{ end }}`, 1)))
		if err != nil {
			t.Error(err)
		}
		c.Template = template
	})
	folder := options.Options{Root: r.root}.Path("/etc/ingress-controller/geoip")
	r.log.next("ready")
	r.awaitAnswer("[]")
	city := filepath.Join(folder, "GeoLite2-City.mmdb")
	r.must(apply.Write(city, []byte("a database")))
	r.awaitAnswer("[GeoLite2-City.mmdb]")

	// New content under the same name causes a reload, because nginx reads the file only on reload.
	r.must(apply.Write(city, []byte("another one")))
	if sync := r.awaitSync(because("with 11 bytes")); !sync.Reload || len(sync.Why) != 1 || !strings.Contains(sync.Why[0], "GeoLite2-City.mmdb with 10 bytes") {
		t.Errorf("sync %+v", sync)
	}
	r.must(os.Remove(city))
	r.awaitAnswer("[]")
}
