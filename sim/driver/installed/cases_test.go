package installed

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/behave"
)

// parse returns a case with these lines in its spec, and this manifest.
func parse(t *testing.T, spec, manifest string) *behave.Case {
	t.Helper()
	text := "apiVersion: windtunnel.dev/v1\nkind: Case\nspec:\n  summary: a case\n  " + spec + "\n"
	if !strings.Contains(spec, "steps:") {
		text += "  steps: [{request: GET http://a.example/, expect: {status: 200}}]\n"
	}
	if manifest != "" {
		text += "---\n" + manifest + "\n"
	}
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := behave.Load(file, behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestUnsupportedCases(t *testing.T) {
	const header = "apiVersion: networking.k8s.io/v1\nkind: Ingress\n"
	const paths = "http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}"
	const rule = "spec: {rules: [{host: a.example, " + paths + "}]}"
	annotated := func(annotation string) string {
		return header + "metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/" + annotation + "}}\n" + rule
	}
	plain := Driver{http: netip.MustParseAddrPort("203.0.113.7:80")}
	able := Driver{http: netip.MustParseAddrPort("127.0.0.1:80"), https: netip.MustParseAddrPort("127.0.0.1:443"), Options: Options{
		Flags: map[string]string{"enable-ssl-passthrough": "true"}, Has: []string{"module/http_modsecurity"},
		ConfigMap: types.NamespacedName{Namespace: "shop", Name: "config"}, CatchAll: true,
	}}
	for name, test := range map[string]struct {
		spec, manifest string
		reason         string // of plain; able supports all cases
	}{
		"ordinary":             {"flags: {}", header + "metadata: {name: web}\n" + rule, ""},
		"flag":                 {`flags: {enable-ssl-passthrough: "true"}`, "", "say so with --flag enable-ssl-passthrough=true"},
		"config":               {"config: {use-gzip: \"true\"}", "", "allow that with --config-map"},
		"config step":          {`steps: [{config: {use-gzip: "true"}}, {request: GET http://a.example/, expect: {status: 200}}]`, "", "allow that with --config-map"},
		"module":               {"needs: [module/http_modsecurity]", "", "say so with --has module/http_modsecurity"},
		"machine":              {"needs: [ipv6]", "", ""},
		"https":                {"steps: [{request: GET https://a.example/, expect: {status: 200}}]", "", "--url https://HOST"},
		"from":                 {"steps: [{request: GET http://a.example/, from: 127.0.0.9, expect: {status: 200}}]", "", "chooses the client's address"},
		"issuer":               {"certificates: {ca: {authority: true}, a: {signed-by: ca, ca-issuers: true}}", "", "certificate a names a URL on this machine"},
		"ipv6":                 {"needs: [ipv6]\n  steps: [{request: GET http://a.example/, ipv6: true, expect: {status: 200}}]", "", "uses IPv6"},
		"no host":              {"flags: {}", header + "metadata: {name: web}\nspec: {rules: [{" + paths + "}]}", "a rule without a host"},
		"default backend":      {"flags: {}", header + "metadata: {name: web}\nspec: {defaultBackend: {service: {name: web, port: {number: 80}}}}", "a default backend"},
		"alias":                {"flags: {}", annotated("server-alias: b.example"), ""},
		"regex alias":          {"flags: {}", annotated(`server-alias: "b.example,~^.+\\.test$"`), `the alias ~^.+\.test$`},
		"wildcard alias":       {"flags: {}", annotated(`server-alias: "*.b.example"`), "the alias *.b.example"},
		"stream snippet":       {"flags: {}", annotated(`stream-snippet: "server {}"`), "the whole of nginx"},
		"another prefix":       {"flags: {}", header + "metadata: {name: web, annotations: {custom.example/server-alias: ~x}}\n" + rule, "the alias ~x"},
		"class":                {"flags: {}", "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: other}\nspec: {controller: example.com/x}", "it has an IngressClass"},
		"with another backend": {"flags: {}", annotated("default-backend: web"), ""},
	} {
		c := parse(t, test.spec, test.manifest)
		got := plain.UnsupportedCase(c)
		if test.reason == "" && got != "" || !strings.Contains(got, test.reason) {
			t.Errorf("%s: %q, want %q", name, got, test.reason)
		}
		if got := able.UnsupportedCase(c); got != "" {
			t.Errorf("%s, with everything allowed: %q", name, got)
		}
	}
	c := parse(t, `flags: {enable-ssl-passthrough: "false"}`, "")
	if got := able.UnsupportedCase(c); !strings.Contains(got, "--enable-ssl-passthrough=false") {
		t.Errorf("another value of the flag: %q", got)
	}
}
