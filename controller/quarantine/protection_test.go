package quarantine

import (
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
)

// asking returns an ingress of host a.example. text contains its annotations as "key: value",
// separated by "|".
func asking(name, text string, paths ...string) *networkingv1.Ingress {
	ingress := new(networkingv1.Ingress)
	ingress.Namespace, ingress.Name, ingress.UID = "demo", name, types.UID(name)
	ingress.Annotations = make(map[string]string)
	for one := range strings.SplitSeq(text, "|") {
		if key, value, ok := strings.Cut(one, ": "); ok {
			ingress.Annotations["nginx.ingress.kubernetes.io/"+strings.TrimSpace(key)] = value
		}
	}
	if len(paths) == 0 {
		paths = []string{"/"}
	}
	var http networkingv1.HTTPIngressRuleValue
	for _, path := range paths {
		http.Paths = append(http.Paths, networkingv1.HTTPIngressPath{Path: path, Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: name}}})
	}
	ingress.Spec.Rules = []networkingv1.IngressRule{{Host: "a.example", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &http}}}
	return ingress
}

func TestWeaker(t *testing.T) {
	for name, test := range map[string]struct{ earlier, wanted, want string }{
		"nothing":                        {"", "", ""},
		"authentication added":           {"", "auth-url: http://a", "external authentication"},
		"authentication removed":         {"auth-url: http://a", "", ""},
		"another authentication service": {"auth-url: http://a", "auth-url: http://b", "external authentication"},
		"same authentication":            {"auth-url: http://a", "auth-url: http://a| proxy-body-size: 1m", ""},
		"keepalive of authentication":    {"auth-url: http://a", "auth-url: http://a| auth-keepalive: 5", ""},
		"passwords":                      {"", "auth-type: basic| auth-secret: x", "passwords"},
		"a secret without a type":        {"", "auth-secret: x", ""},
		"an allow list":                  {"", "whitelist-source-range: 10.0.0.0/8", "allow list"},
		"a wider allow list":             {"whitelist-source-range: 10.1.0.0/16", "whitelist-source-range: 10.0.0.0/8", "allow list"},
		"a deny list":                    {"", "denylist-source-range: 10.0.0.0/8", "deny list"},
		"certificates":                   {"", "auth-tls-secret: a/b", "client certificates"},
		"satisfy":                        {"satisfy: any", "", "satisfy"},
		"opting out of global":           {"enable-global-auth: false", "", "global authentication"},
		"the firewall":                   {"", "enable-modsecurity: true", "ModSecurity"},
		"redirect":                       {"", "force-ssl-redirect: true", "redirect to HTTPS"},
		"limits":                         {"", "limit-rps: 5", "rate limits"},
		"an exception from no limits":    {"", "limit-allowlist: 10.0.0.0/8", ""},
		"an exception from limits":       {"limit-rps: 5| limit-allowlist: 10.0.0.0/8", "limit-rps: 5", "rate limits"},
		"errors":                         {"custom-http-errors: 401", "", "intercepted errors"},
		"CORS removed":                   {"enable-cors: true", "", "CORS"},
		"CORS added":                     {"", "enable-cors: true", ""},
		"a mirror removed":               {"mirror-target: http://m", "", "mirror"},
		"access rules in a snippet":      {"", "configuration-snippet: deny all;", "snippet of the location"},
		"the same rules":                 {"configuration-snippet: deny all;", "configuration-snippet: add_header A b; deny  all;", ""},
		"no rules in a snippet":          {"", "configuration-snippet: more_set_headers -a \"X: y\";", ""},
		"a header of requests":           {"", "configuration-snippet: proxy_set_header X-User \"\";", "snippet of the location"},
		"an unknown directive":           {"", "server-snippet: no_such_directive on;", "snippet of the server"},
		"an unknown annotation":          {"", "new-protection: on", "annotation new-protection"},
		"several":                        {"", "new-protection: on| auth-url: http://a| limit-rps: 1", "external authentication, rate limits, annotation new-protection"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(newReader("").weaker(asking("x", test.earlier), asking("x", test.wanted)), ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := newReader("other").weaker(asking("x", ""), asking("x", "auth-url: http://a")); len(got) > 0 {
		t.Errorf("annotations of another prefix count: %q", got)
	}
	plain, secured := asking("x", ""), asking("x", "")
	secured.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"a.example"}, SecretName: "a"}}
	if got := newReader("").weaker(plain, secured); !slices.Equal(got, []string{"spec.tls"}) {
		t.Errorf("TLS added: %q", got)
	}
	if got := newReader("").weaker(secured, plain); len(got) > 0 {
		t.Errorf("TLS removed: %q", got)
	}
}

func TestDirectivesThatProtect(t *testing.T) {
	for snippet, want := range map[string]string{
		"":                       "",
		"# deny all;":            "",
		"add_header A b;":        "",
		"add_header A \"b;}\";":  "",
		"add_header A ${host};":  "",
		"add_header A a#b;":      "",
		"deny all;":              "deny all;",
		"deny\tall ; allow\n1;":  "deny all ;/allow\n1;",
		"if ($x) { return 403;}": "if ($x) { return 403;}",
		"location /a { deny all; location /b { allow all; } } etag off;": "location /a { deny all; location /b { allow all; } }",
		"add_header A 1\ndeny all;":                                      "add_header A 1\ndeny all;", // a semicolon is missing
		"add_header A 1 deny all;":                                       "add_header A 1 deny all;",
		"add_header A 1":                                                 "add_header A 1",
		"add_header A \"1; deny all;":                                    "add_header A \"1; deny all;",
		"} location / {":                                                 "} location / {",
	} {
		if got := strings.Join(protecting(snippet), "/"); got != want {
			t.Errorf("%q: got %q, want %q", snippet, got, want)
		}
	}
}

func FuzzDirectives(f *testing.F) {
	f.Add("add_header A \"1; deny all;", "deny all;")
	f.Fuzz(func(t *testing.T, earlier, wanted string) {
		if strings.Contains(wanted, "deny") && !strings.ContainsAny(wanted, "#\"'\\") && snippetLacks("", wanted) == false {
			for word := range strings.FieldsSeq(wanted) {
				if word == "deny" {
					t.Errorf("%q has no protecting directive", wanted)
				}
			}
		}
		if snippetLacks(wanted, wanted) {
			t.Errorf("%q is weaker than itself", wanted)
		}
		snippetLacks(earlier, wanted)
	})
}
