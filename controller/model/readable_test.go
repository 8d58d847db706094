package model

import (
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// Without validation, a redirect can contain an unknown variable. The finding names the annotation
// that the ingress uses.
func TestUnknownVariablesOfRedirectsAreAttributed(t *testing.T) {
	for _, name := range []string{"temporal-redirect", "permanent-redirect"} {
		ingress := new(networkingv1.Ingress)
		ingress.Namespace, ingress.Name = "demo", "moved"
		ingress.Annotations = map[string]string{annotations.DefaultPrefix + "/" + name: "https://new.example/$nothing"}
		ingress.Spec.Rules = []networkingv1.IngressRule{{Host: "a.example"}}
		_, findings := Build(snapshot.Snapshot{Ingresses: []*networkingv1.Ingress{ingress}},
			options.Options{Config: options.Defaults(1, false), SkipAnnotationValidation: true})
		if !slices.ContainsFunc(findings, func(f Finding) bool {
			return strings.HasSuffix(f.Key, "/"+name+"]") && strings.Contains(f.Reason, "nginx has no variable $nothing")
		}) {
			t.Errorf("%s: findings %v", name, findings)
		}
	}
}

func TestUnknownVariablesAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"no variable":               "no variable",
		"$host/${request_uri}x":     "$host/${request_uri}x",
		"$1 $10":                    "$1 $10",
		"/?rd=$escaped_request_uri": "/?rd=$escaped_request_uri",
		"$http_x_a $arg_b":          "$http_x_a $arg_b",
		"$http_":                    "${literal_dollar}http_",
		"$x":                        "${literal_dollar}x",
		"${x}":                      "${literal_dollar}{x}",
		"${host":                    "${literal_dollar}{host",
		"${ho st}":                  "${literal_dollar}{ho st}",
		"$":                         "${literal_dollar}",
		"$$host":                    "${literal_dollar}$host",
		"$0":                        "${literal_dollar}0",
		"$mine":                     "$mine",
		"$hosts":                    "${literal_dollar}hosts",
	} {
		if got, _ := escapeUnknownVariables(text, map[string]bool{"mine": true}); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestServerNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"a.example": true, "*.a.example": true, ".a.example": true, "www.*": true, "~^www\\d\\.a$": true, "localhost": true,
		"*": false, "*a": false, "a*b": false, "a.*.b": false, "~": false, "~(": false, "a..b": false, ".": false, "*.a.*": false,
	} {
		if err := badServerName(name); (err == nil) != ok {
			t.Errorf("server name %s: %v", name, err)
		}
	}
}
