package render

import (
	"reflect"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/model"
)

func TestFunctions(t *testing.T) {
	prefix := &model.Location{Path: `/p"\`, PathType: new(networkingv1.PathTypePrefix), Backend: "demo-web-80"}
	exact := &model.Location{Path: "/p", PathType: new(networkingv1.PathTypeExact)}
	for _, test := range []struct{ call, got, want any }{
		{"buildLocation prefix", buildLocation(prefix, false), `"/p\"\\"`},
		{"buildLocation exact", buildLocation(exact, false), `= "/p"`},
		{"buildLocation regex", buildLocation(exact, true), `~* "^/p"`},
		{"buildServerName", buildServerName("a.b"), "a.b"},
		{"buildServerName wildcard", buildServerName("*.a.b"), `~^(?<subdomain>[\w-]+)\.a\.b$`},
		{"escapeLiteralDollar", escapeLiteralDollar("/a$b"), "/a${literal_dollar}b"},
		{"escapeLiteralDollar of no string", escapeLiteralDollar(7), ""},
		{"quote", quote(`a"b`), `"a\"b"`},
		{"quote number", quote(7), `"7"`},
		{"empty", empty(""), true},
		{"empty of text", empty("x"), false},
		{"empty of anything else", empty(7), true},
		{"buildNextUpstream", buildNextUpstream("error timeout", false), "error timeout"},
		{"buildNextUpstream flag", buildNextUpstream("error timeout", true), "error timeout non_idempotent"},
		{"buildNextUpstream moved", buildNextUpstream("non_idempotent error", false), "error non_idempotent"},
		{"buildResolvers", buildResolvers([]string{"10.0.0.1", "fe80::1"}, false), "resolver 10.0.0.1 [fe80::1] valid=30s;"},
		{"buildResolvers IPv4", buildResolvers([]string{"10.0.0.1"}, true), "resolver 10.0.0.1 valid=30s ipv6=off;"},
		{"buildResolvers none", buildResolvers(nil, true), ""},
		{"buildForwardedFor", buildForwardedFor("X-Forwarded-For"), "$http_x_forwarded_for"},
		{"isValidByteSize", isValidByteSize(" 10m ", false), true},
		{"isValidByteSize g", isValidByteSize("1g", false), false},
		{"isValidByteSize offset", isValidByteSize("1g", true), true},
		{"isValidByteSize none", isValidByteSize("", true), false},
		{"dictSize", dictSize(512) + dictSize(2048), "512K2M"},
		{"nextPowerOf2", []int{nextPowerOf2(0), nextPowerOf2(1), nextPowerOf2(64), nextPowerOf2(65)}, []int{1, 1, 64, 128}},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s = %v, want %v", test.call, test.got, test.want)
		}
	}
}

func TestIngressInformation(t *testing.T) {
	service := func(name string) *networkingv1.IngressServiceBackend {
		return &networkingv1.IngressServiceBackend{Name: name, Port: networkingv1.ServiceBackendPort{Number: 80}}
	}
	ingress := &networkingv1.Ingress{}
	ingress.Namespace, ingress.Name = "demo", "web"
	ingress.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: service("default")}
	ingress.Spec.Rules = []networkingv1.IngressRule{{Host: "a", IngressRuleValue: networkingv1.IngressRuleValue{
		HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{
			{Path: "", Backend: networkingv1.IngressBackend{Service: service("root")}},
			{Path: "/p", Backend: networkingv1.IngressBackend{Service: service("p")}},
		}},
	}}}
	for _, test := range []struct{ host, path, want string }{
		{"a", "", "root"}, {"a", "/p", "p"}, {"a", "/q", "default"}, {"b", "/p", "default"}, {"_", "/p", "default"},
	} {
		if got := getIngressInformation(&model.Ingress{Ingress: ingress}, test.host, test.path); got.Service != test.want || got.Rule != "web" || got.ServicePort != "80" {
			t.Errorf("%s%s: %+v, want service %s", test.host, test.path, got, test.want)
		}
	}
	if got := getIngressInformation(nil, "a", ""); got.Path != "/" || got.Namespace != "" {
		t.Errorf("without an ingress: %+v", got)
	}
}

func TestIndent(t *testing.T) {
	got := string(indent([]byte("\n\n  a;\r\n b {\nc; # { not a block\n\n\n\nd {\n}\n}\n}\ne {\nf\rg;\n}\ng '{' \"\\\"{#\" a#{b \\{ { # {\nh ${i};\n}\n\n")))
	want := "a;\nb {\n\tc; # { not a block\n\n\td {\n\t}\n}\n}\ne {\n\tf g;\n}\ng '{' \"\\\"{#\" a#{b \\{ { # {\n\t\th ${i};\n\t}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Indenting changes only white space at the ends of lines and between lines, and does not change
// text that is already indented.
func FuzzIndent(f *testing.F) {
	f.Add("a {\n}}{\n# }\n\r{")
	f.Fuzz(func(t *testing.T, text string) {
		once := indent([]byte(text))
		if twice := indent(once); string(twice) != string(once) {
			t.Errorf("indented once %q, twice %q", once, twice)
		}
		if got, want := strings.Fields(string(once)), strings.Fields(text); !reflect.DeepEqual(got, want) {
			t.Errorf("indenting changed the words to %q from %q", got, want)
		}
	})
}
