package main

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/sim/scenario"
)

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
	write("rootfs/etc/nginx/template/location.tmpl", "included")
	write("rootfs/etc/nginx/lua/balancer.lua", "return 1")
	run("add", ".")
	run("commit", "-q", "-m", "first")
	write("rootfs/etc/nginx/template/nginx.tmpl", "second")
	run("commit", "-q", "-a", "-m", "second")
	t.Chdir(repository)

	for side, want := range map[string]string{
		"HEAD/nginx.tmpl": "second", "HEAD~1/nginx.tmpl": "first", "HEAD/location.tmpl": "included", "./nginx.tmpl": "second", "./location.tmpl": "included",
	} {
		side, file := path.Split(side)
		s, err := parseSide(t.Context(), strings.TrimSuffix(side, "/"), t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", side, err)
			continue
		}
		if text, err := os.ReadFile(filepath.Join(s.Template, file)); err != nil || string(text) != want {
			t.Errorf("%s: %s is %q, %v; want %q", side, file, text, err, want)
		}
	}
	for side, want := range map[string]string{
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
		"bundled,nonsense":                 "not KEY=VALUE",
		"bundled,colour=red":               "unknown setting colour",
		"templat=nginx.tmpl":               "unknown setting templat; did you mean template?",
		"trafik=/usr/bin/traefik":          "there is no adapter trafik; did you mean traefik?",
		"template=no/such@no-such":         "not a git revision",
		"template=../../../elsewhere@HEAD": "is not in the repository",
	} {
		if _, err := parseSide(t.Context(), side, t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", side, err, want)
		}
	}
}

// The requests of a corpus are those of the ingresses that the sides serve, whatever their class.
func TestRevisionOutsideOfRepositories(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	t.Chdir(t.TempDir())
	const want = "HEAD~1 is not a git revision of a repository, because the current folder is in none"
	if _, err := parseSide(t.Context(), "HEAD~1", t.TempDir()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestRegressAsksAboutTheServedClass(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.yaml")
	err := os.WriteFile(file, []byte(`apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  ingressClassName: internal
  rules:
  - host: shop.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	o := regressOptions{corpus: []string{file}, requests: 100}
	for class, want := range map[string]bool{"internal": true, "nginx": false} {
		flags := map[string]string{"ingress-class": class}
		corpus, err := o.corpusRequests([2]scenario.Subject{{Flags: flags}, {Flags: flags}})
		if err != nil || (corpus.Requests() > 0) != want {
			t.Errorf("%s: %d requests, %v", class, corpus.Requests(), err)
		}
	}
}
