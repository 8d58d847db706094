package behave_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/specfile"
)

// known stands in for the names that other packages provide.
var known = behave.Known{
	Annotations: []string{"nginx.ingress.kubernetes.io/canary-weight", "nginx.ingress.kubernetes.io/limit-rps", "nginx.ingress.kubernetes.io/rewrite-target"},
	Config:      []string{"keep-alive", "use-gzip", "worker-processes"},
	Flags:       []string{"default-ssl-certificate", "v"},
	Differences: []string{"sorted-endpoints"},
	Needs:       []string{"ipv6", "module/brotli"},
}

// TestBadFiles checks the messages about each kind of mistake.
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
			c, err := behave.Parse("bad.yaml", archive.Files[0].Data, known)
			if err == nil {
				t.Fatalf("accepted as %+v", c)
			}
			archive.Files[1].Data = []byte(err.Error() + "\n")
			golden.Check(t, path, txtar.Format(archive))
		})
	}
}

const good = `# A comment before the document.
apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: Everything that takes several forms.
  covers: [annotation/rewrite-target, config/use-gzip, flag/v, annotation/limit-rps=default]
  differs: compat.md#sorted-endpoints
  needs: [ipv6]
  flags: {v: 2}
  config: {use-gzip: true}
  certificates:
    ca: {authority: true, namespace: "-"}
    web: {hosts: [shop.example], signed-by: ca}
    client: {signed-by: ca, valid: -1h}
  pods:
    web:
    api:
      protocol: https
      certificate: web
      client-ca: ca
      headers: {X-One: a, X-Two: [a, b]}
      rules:
      - {path: /slow, after: 2s, first: 1}
      - {path: /broken, break: reset}
  steps:
  - request: GET https://shop.example/a//b/../%zz?x=1
    headers: {Accept-Encoding: null, X-A: [a, b]}
    tls: {sni: "-", certificate: client, min: 1.2}
    ipv6: true
    expect:
      status: [200, 204]
      headers: {Location: null, Server: nginx, Vary: {values: [a, b]}}
      body: null
      cookies: {gone: null, kept: {path: null}}
      service: api
      pod: {sni: null, headers: {X-B: null}}
      received: {web: []}
    bundled: {status: 404}
  - apply: later
    expect: {rejected: null, reload: true}
  - config: {}
  - request: POST http://shop.example
    times: 3
    timeout: 1s
    expect: {statuses: {200: {min: 2}, 503: 0}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, annotations: {nginx.ingress.kubernetes.io/rewrite-target: /}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, annotations: {windtunnel.dev/manifest: later}}
`

func TestParse(t *testing.T) {
	c, err := behave.Parse("cases/redirects/app-root.yaml", []byte(good), known)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "redirects/app-root" {
		t.Errorf("name %q", c.Name)
	}
	absent, text := behave.Match{Absent: true}, func(s string) behave.Match { return behave.Match{Equals: &s} }
	want := behave.Spec{
		Summary: "Everything that takes several forms.",
		Covers:  []string{"annotation/rewrite-target", "config/use-gzip", "flag/v", "annotation/limit-rps=default"},
		Differs: "compat.md#sorted-endpoints",
		Needs:   []string{"ipv6"},
		Flags:   map[string]string{"v": "2"},
		Config:  map[string]string{"use-gzip": "true"},
		Certificates: map[string]behave.Certificate{
			"ca":     {Authority: true, Namespace: "-", CommonName: "ca", Valid: 24 * time.Hour, Key: "ecdsa"},
			"web":    {Hosts: []string{"shop.example"}, SignedBy: "ca", CommonName: "shop.example", Valid: 24 * time.Hour, Key: "ecdsa"},
			"client": {SignedBy: "ca", CommonName: "client", Valid: -time.Hour, Key: "ecdsa"},
		},
		Pods: map[string]behave.Pods{
			"web": {Replicas: new(1), Protocol: "http", Answer: behave.Answer{Status: 200}},
			"api": {Replicas: new(1), Protocol: "https", Certificate: "web", ClientCA: "ca",
				Answer: behave.Answer{Status: 200, Headers: map[string]behave.Values{"X-One": {"a"}, "X-Two": {"a", "b"}}},
				Rules: []behave.Rule{
					{Path: "/slow", First: 1, Answer: behave.Answer{Status: 200, After: 2 * time.Second}},
					{Path: "/broken", Answer: behave.Answer{Break: "reset"}},
				}},
		},
		Steps: []behave.Step{
			{
				Request: behave.Request{
					Request: "GET https://shop.example/a//b/../%zz?x=1", Headers: map[string]behave.Values{"Accept-Encoding": nil, "X-A": {"a", "b"}},
					TLS: behave.ClientTLS{SNI: "-", Certificate: "client", Min: "1.2"}, IPv6: true, HTTP: "1.1", Times: 1, Timeout: 10 * time.Second,
				},
				Expect: behave.Expect{
					Status:  behave.Statuses{200, 204},
					Headers: map[string]behave.Match{"Location": absent, "Server": text("nginx"), "Vary": {Values: []string{"a", "b"}}},
					Body:    &absent, Cookies: map[string]*behave.Cookie{"gone": nil, "kept": {Path: &absent}},
					Service: "api", Pod: &behave.Received{SNI: &absent, Headers: map[string]behave.Match{"X-B": absent}},
					Received: map[string][]behave.Received{"web": {}},
				},
				Bundled: &behave.Expect{Status: behave.Statuses{404}},
				Line:    26,
			},
			{Apply: "later", Expect: behave.Expect{Rejected: &absent, Reload: new(true)}, Line: 39},
			{Config: map[string]string{}, Line: 41},
			{
				Request: behave.Request{Request: "POST http://shop.example", HTTP: "1.1", Times: 3, Timeout: time.Second},
				Expect:  behave.Expect{Statuses: map[int]behave.Count{200: {Min: new(2)}, 503: {Min: new(0), Max: new(0)}}},
				Line:    42,
			},
		},
	}
	if diff := cmp.Diff(want, c.Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(c.Manifests) != 2 || c.Manifests[0].Named || !c.Manifests[1].Named || len(c.Named("later")) != 1 {
		t.Errorf("got manifests %+v, want the second to be applied by a step", c.Manifests)
	}
	target := c.Steps[0].Target()
	if want := (behave.Target{Method: "GET", Scheme: "https", Host: "shop.example", Path: "/a//b/../%zz?x=1"}); target != want {
		t.Errorf("got %+v, want %+v", target, want)
	}
}

func TestTargets(t *testing.T) {
	for line, want := range map[string]behave.Target{
		"GET http://a.example":            {Method: "GET", Scheme: "http", Host: "a.example", Path: "/"},
		"GET http://a.example?x=/y":       {Method: "GET", Scheme: "http", Host: "a.example", Path: "/?x=/y"},
		"PURGE https://a_b.example:8443/": {Method: "PURGE", Scheme: "https", Host: "a_b.example:8443", Path: "/"},
		"GET http://[::1]:80//a":          {Method: "GET", Scheme: "http", Host: "[::1]:80", Path: "//a"},
	} {
		if got := (behave.Request{Request: line}).Target(); got != want {
			t.Errorf("%s: got %+v, want %+v", line, got, want)
		}
	}
	for host, want := range map[string]string{"a.example:80": "a.example", "[::1]:80": "::1", "a.example": "a.example"} {
		if got := (behave.Target{Host: host}).Hostname(); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}

// TestNames checks the names of cases, on which their namespaces depend.
func TestNames(t *testing.T) {
	const minimal = "{apiVersion: windtunnel.dev/v1, kind: Case, spec: {summary: x, steps: [{request: GET http://a.example/, expect: {status: 404}}]}}"
	for path, want := range map[string]string{
		"cases/redirects/app-root.yaml": "redirects/app-root", "/x/y/z/a.b.yml": "z/a.b", "a.yaml": "a", "./a.yaml": "a", "../a.yaml": "a",
	} {
		c, err := behave.Parse(path, []byte(minimal), behave.Known{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Name != want {
			t.Errorf("%s: got %s, want %s", path, c.Name, want)
		}
	}
	folder := filepath.Join(t.TempDir(), "redirects")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	if err := os.WriteFile("a.yaml", []byte(minimal), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := behave.Load("a.yaml", behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "redirects/a" || c.File != "a.yaml" {
		t.Errorf("got name %s of file %s, want redirects/a of a.yaml", c.Name, c.File)
	}
}

func TestProblemsAreValues(t *testing.T) {
	_, err := behave.Parse("x.yaml", []byte("kind: Pod"), known)
	var problem specfile.Problem
	if !errors.As(err, &problem) || problem.File != "x.yaml" || problem.Line != 1 {
		t.Errorf("got %#v, want a problem at x.yaml:1", err)
	}
}

// page returns the reference.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/cases.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReferenceExample checks that the first example of the reference is valid.
func TestReferenceExample(t *testing.T) {
	_, rest, _ := strings.Cut(page(t), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if _, err := behave.Parse("docs/cases.md", []byte(example), known); err != nil {
		t.Error(err)
	}
}

// TestReferenceIsWhole checks that the reference has every field, below the heading of its type.
func TestReferenceIsWhole(t *testing.T) {
	text := page(t)
	for heading, part := range map[string]any{
		"spec": behave.Spec{}, "pods": behave.Pods{}, "rules": behave.Rule{}, "certificates": behave.Certificate{}, "steps": behave.Step{},
		"client tls": behave.ClientTLS{}, "proxy": behave.Proxy{}, "expect": behave.Expect{}, "conditions on texts": behave.Match{},
		"cookies": behave.Cookie{}, "received requests": behave.Received{}, "server tls": behave.ServerTLS{}, "took": behave.Range{},
		"logs": behave.Lines{}, "counts": behave.Count{},
	} {
		_, section, ok := strings.Cut(text, "\n## "+heading+"\n")
		if !ok {
			t.Errorf("docs/cases.md has no heading %s", heading)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, name := range specfile.Fields(reflect.TypeOf(part)) {
			if !strings.Contains(section, "\n| `"+name+"` |") {
				t.Errorf("docs/cases.md: %s has no row for %s", heading, name)
			}
		}
	}
}

// FuzzParse checks that no file makes Parse panic or report a problem on several lines, and that an
// accepted case can be judged.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	bad, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range bad {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := behave.Parse("x.yaml", data, known)
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "x.yaml:") {
					t.Errorf("a line without a location: %q", line)
				}
			}
			return
		}
		again, err := behave.Parse("x.yaml", data, known)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("parsed again, -first +second:\n%s", diff)
		}
		for _, step := range c.Steps {
			if step.Request.Request != "" && step.Target().Host == "" {
				t.Errorf("%q was accepted without a host", step.Request.Request)
			}
			behave.Judge(c, step, []behave.Exchange{{Status: 200}}, true)
			behave.JudgeChange(c, step, behave.Change{}, true)
		}
	})
}
