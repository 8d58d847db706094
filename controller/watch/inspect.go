package watch

import (
	"fmt"
	"regexp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// suspicious matches text that does not belong in a host, a path or a Secret's name: directives
// that serve files, paths of secret files, Lua. The list is that of ingress-nginx's --deep-inspect.
var suspicious = regexp.MustCompile(`(?i)\b(alias|root)\s+[^;]*;` +
	`|/etc/(passwd|shadow|group|nginx|ingress-controller)` +
	`|/var/run/secrets` +
	`|_by_lua`)

// Inspect implements --deep-inspect: it returns an error if a field of an ingress looks like an
// attempt to inject text into nginx.conf.
func Inspect(ingress *networkingv1.Ingress) error {
	for i, rule := range ingress.Spec.Rules {
		if err := look(rule.Host, "spec.rules[%d].host", i); err != nil {
			return err
		}
		if rule.HTTP == nil {
			continue
		}
		for j, path := range rule.HTTP.Paths {
			if err := look(path.Path, "spec.rules[%d].http.paths[%d].path", i, j); err != nil {
				return err
			}
		}
	}
	for i, tls := range ingress.Spec.TLS {
		if err := look(tls.SecretName, "spec.tls[%d].secretName", i); err != nil {
			return err
		}
		for j, host := range tls.Hosts {
			if err := look(host, "spec.tls[%d].hosts[%d]", i, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// WithoutSuspicious returns a copy of an ingress without the rules, paths and spec.tls entries that
// Inspect rejects, or the ingress itself if there are none. The result is safe to write into
// nginx.conf.
func WithoutSuspicious(ingress *networkingv1.Ingress) *networkingv1.Ingress {
	if Inspect(ingress) == nil {
		return ingress
	}
	clean := ingress.DeepCopy()
	bad := func(text string) bool { return suspicious.MatchString(text) }
	clean.Spec.Rules = slices.DeleteFunc(clean.Spec.Rules, func(rule networkingv1.IngressRule) bool { return bad(rule.Host) })
	for _, rule := range clean.Spec.Rules {
		if rule.HTTP != nil {
			rule.HTTP.Paths = slices.DeleteFunc(rule.HTTP.Paths, func(path networkingv1.HTTPIngressPath) bool { return bad(path.Path) })
		}
	}
	clean.Spec.TLS = slices.DeleteFunc(clean.Spec.TLS, func(entry networkingv1.IngressTLS) bool {
		return bad(entry.SecretName) || slices.ContainsFunc(entry.Hosts, bad)
	})
	return clean
}

func look(value, field string, indexes ...any) error {
	if found := suspicious.FindString(value); found != "" {
		return fmt.Errorf("%s contains %q, which --deep-inspect forbids", fmt.Sprintf(field, indexes...), found)
	}
	return nil
}
