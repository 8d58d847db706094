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

// answering is a template by which nginx answers every request with a text.
// Its status server does as much as the controller needs to be content.
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

func TestATemplateIsTakenAsSoonAsItIsWritten(t *testing.T) {
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
	r.log.next("a new template holds")
	r.awaitAnswer("two")

	for name, bad := range map[string]string{
		"no template":         "{{ if",
		"fails when rendered": answering("{{ .NoSuchField }}"),
		"nginx refuses it":    answering("three") + "no_such_directive;\n",
	} {
		t.Run(name, func(t *testing.T) {
			write(bad)
			r := *r
			r.T = t
			if line := r.log.next("the new template is refused, the old one stays"); line.Error == "" {
				t.Errorf("record %+v", line)
			}
			if got := r.get(r.ports.HTTP, "web.example", "/"); got != "two" {
				t.Errorf("nginx answers %q", got)
			}
		})
	}
	r.service(pod(t, "127.88.0.1", "pod")) // the cluster is followed with the old one
	r.awaitSync(posted)
	write(answering("four"))
	r.awaitAnswer("four")
}

func TestDatabasesOfAddresses(t *testing.T) {
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

	// Another content under the same name takes a reload: nginx reads it then.
	r.must(apply.Write(city, []byte("another one")))
	if sync := r.awaitSync(because("with 11 bytes")); !sync.Reload || len(sync.Why) != 1 || !strings.Contains(sync.Why[0], "GeoLite2-City.mmdb with 10 bytes") {
		t.Errorf("sync %+v", sync)
	}
	r.must(os.Remove(city))
	r.awaitAnswer("[]")
}
