package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/internal/ingresshost"
)

// The limits of the Gateway API's CRDs.
const (
	mostRules     = 16 // of an HTTPRoute
	mostListeners = 64 // of a Gateway
)

// routes returns the Gateway and the HTTPRoutes of an ingress. The first route has the ingress's name.
func (g Gateways) routes(ingress *networkingv1.Ingress) (objects []*unstructured.Unstructured, err error) {
	if err := CheckAnnotations(ingress.Annotations); err != nil {
		return nil, err
	}
	if len(ingress.Spec.TLS) > 0 {
		secure, err := g.secure(ingress)
		if err != nil {
			return nil, err
		}
		objects = append(objects, secure)
	}
	made := 0
	for _, rule := range rulesOf(ingress) {
		all, err := routeRules(rule.HTTP)
		if err != nil {
			return nil, err
		}
		for some := range slices.Chunk(all, mostRules) {
			made++
			spec := map[string]any{"rules": some}
			if parents := g.parents(ingress, rule.Host); len(parents) > 0 {
				spec["parentRefs"] = parents
			}
			if rule.Host != "" {
				spec["hostnames"] = []any{rule.Host}
			}
			objects = append(objects, like(ingress, newObject("HTTPRoute", ingress.Namespace, routeName(ingress.Name, made), spec)))
		}
	}
	return objects, nil
}

// routeName returns the name of the nth route of an ingress, from 1.
func routeName(ingress string, n int) string {
	if n == 1 {
		return ingress
	}
	return fmt.Sprintf("%s.rule-%d", ingress, n) // unlike the names of other ingresses
}

// rulesOf returns the rules of an ingress. Those that need it get an additional path for the
// default backend, because the Ingress API sends requests that match no path there.
func rulesOf(ingress *networkingv1.Ingress) []networkingv1.IngressRule {
	rules := slices.Clone(ingress.Spec.Rules)
	if ingress.Spec.DefaultBackend == nil {
		return slices.DeleteFunc(rules, func(r networkingv1.IngressRule) bool { return r.HTTP == nil })
	}
	rest := networkingv1.HTTPIngressPath{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: *ingress.Spec.DefaultBackend}
	for i, rule := range rules {
		http := &networkingv1.HTTPIngressRuleValue{}
		if rule.HTTP != nil {
			http = rule.HTTP.DeepCopy()
		}
		if !slices.ContainsFunc(http.Paths, matchesAll) {
			http.Paths = append(http.Paths, rest)
		}
		rules[i].HTTP = http
	}
	if !slices.ContainsFunc(rules, func(r networkingv1.IngressRule) bool { return r.Host == "" }) {
		rules = append(rules, networkingv1.IngressRule{IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{rest}},
		}})
	}
	return rules
}

func matchesAll(p networkingv1.HTTPIngressPath) bool {
	return cmp.Or(p.Path, "/") == "/" && pathType(p) != networkingv1.PathTypeExact
}

// pathType returns the type of a path. Controllers define ImplementationSpecific; for most, it means
// Prefix.
func pathType(p networkingv1.HTTPIngressPath) networkingv1.PathType {
	if p.PathType != nil && *p.PathType == networkingv1.PathTypeExact {
		return networkingv1.PathTypeExact
	}
	return networkingv1.PathTypePrefix
}

// routeRules returns a rule of an HTTPRoute for each path.
func routeRules(http *networkingv1.HTTPIngressRuleValue) (rules []any, err error) {
	kinds := map[networkingv1.PathType]string{networkingv1.PathTypeExact: "Exact", networkingv1.PathTypePrefix: "PathPrefix"}
	for _, p := range http.Paths {
		backend, err := backendRef(p.Backend)
		if err != nil {
			return nil, fmt.Errorf("path %s: %w", p.Path, err)
		}
		rules = append(rules, map[string]any{
			"matches":     []any{map[string]any{"path": map[string]any{"type": kinds[pathType(p)], "value": cmp.Or(p.Path, "/")}}},
			"backendRefs": []any{backend},
		})
	}
	return rules, nil
}

func backendRef(of networkingv1.IngressBackend) (map[string]any, error) {
	switch {
	case of.Service == nil:
		return nil, errors.New("its backend is not a service")
	case of.Service.Port.Name != "":
		return nil, fmt.Errorf("HTTPRoutes name ports by number, not as %q", of.Service.Port.Name)
	}
	return map[string]any{"name": of.Service.Name, "port": int64(of.Service.Port.Number)}, nil
}

// parents returns the Gateways of a host's route: that of the class and, if a certificate is for
// the host, that of the ingress. An ingress without a class has no Gateways.
func (g Gateways) parents(ingress *networkingv1.Ingress, host string) (parents []any) {
	class := classOf(ingress)
	if class == "" {
		return nil
	}
	parents = append(parents, map[string]any{"name": class, "namespace": g.Namespace})
	if slices.ContainsFunc(ingress.Spec.TLS, func(tls networkingv1.IngressTLS) bool {
		return len(tls.Hosts) == 0 || slices.ContainsFunc(tls.Hosts, func(pattern string) bool { return covers(pattern, host) })
	}) {
		parents = append(parents, map[string]any{"name": ingress.Name})
	}
	return parents
}

// covers reports whether a listener with a hostname accepts a route with another.
func covers(pattern, host string) bool {
	return pattern == host || host == "" || ingresshost.WildcardCovers(pattern, host)
}

// classOf returns the class of an ingress, "" if it has none.
func classOf(ingress *networkingv1.Ingress) string {
	if name := ingress.Spec.IngressClassName; name != nil {
		return *name
	}
	return ingress.Annotations[classAnnotation]
}

// secure returns a Gateway with the certificates of an ingress.
func (g Gateways) secure(ingress *networkingv1.Ingress) (*unstructured.Unstructured, error) {
	class := classOf(ingress)
	if class == "" {
		return nil, errors.New("it has certificates, but no class")
	}
	var listeners []any
	for _, tls := range ingress.Spec.TLS {
		if tls.SecretName == "" {
			return nil, errors.New("it has TLS without a secretName, and a Gateway has no default certificate")
		}
		hosts := tls.Hosts
		if len(hosts) == 0 {
			hosts = []string{""}
		}
		for _, host := range hosts {
			listener := map[string]any{
				"name": fmt.Sprintf("https-%d", len(listeners)+1), "protocol": "HTTPS", "port": g.HTTPS,
				"tls": map[string]any{"certificateRefs": []any{map[string]any{"name": tls.SecretName}}},
			}
			if host != "" {
				listener["hostname"] = host
			}
			listeners = append(listeners, listener)
		}
	}
	if len(listeners) > mostListeners {
		return nil, fmt.Errorf("it has certificates for %d hosts, and a Gateway has at most %d listeners", len(listeners), mostListeners)
	}
	return like(ingress, newObject("Gateway", ingress.Namespace, ingress.Name, map[string]any{"gatewayClassName": class, "listeners": listeners})), nil
}
