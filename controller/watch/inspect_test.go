package watch

import (
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
)

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		host, path, secret string
		want               string // part of the error; "" means no error
	}{
		{host: "web.example.com", path: "/", secret: "web-tls"},
		{host: "root.example.com", path: "/alias/of;x", secret: "passwd"},
		{path: "/x;} alias /etc/; #", want: "paths[0].path"},
		{path: "/ {root /; }", want: "paths[0].path"},
		{path: "/etc/PASSWD", want: "/etc/PASSWD"},
		{path: "/var/run/secrets/x", want: "/var/run/secrets"},
		{host: "a_by_lua_block", want: "rules[0].host"},
		{secret: "x/etc/ingress-controller", want: "tls[0].secretName"},
	} {
		ingress := &networkingv1.Ingress{}
		ingress.Spec.Rules = []networkingv1.IngressRule{{Host: c.host}}
		ingress.Spec.Rules[0].HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: c.path}}}
		ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{c.host}, SecretName: c.secret}}
		err := Inspect(ingress)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%+v: rejected: %v", c, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

func FuzzInspect(f *testing.F) {
	f.Add("/", "a.example")
	f.Add("/x;} alias /etc/; #", "_by_lua")
	f.Fuzz(func(t *testing.T, path, host string) {
		ingress := &networkingv1.Ingress{}
		ingress.Spec.Rules = []networkingv1.IngressRule{{Host: host}}
		ingress.Spec.Rules[0].HTTP = &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: path}}}
		err := Inspect(ingress)
		for _, word := range []string{"_by_lua", "/etc/passwd", "/var/run/secrets"} {
			if err == nil && (strings.Contains(path, word) || strings.Contains(host, word)) {
				t.Errorf("%q in path %q, host %q was accepted", word, path, host)
			}
		}
	})
}
