package model

import (
	"cmp"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/snapshot"
)

// close makes all locations of an ingress answer 503. It keeps only the annotations that determine
// which requests match the ingress, so no other location answers them.
func (b *builder) close(ingress *networkingv1.Ingress, read *parsed, reason string) {
	set := b.noAnnotations
	set.Denied = &reason
	set.Rewrite.UseRegex = b.usesRegex(ingress)
	set.Aliases = b.aliasesOf(ingress)
	read.Set, read.closed = &set, true
}

func (b *builder) closed(ingress *networkingv1.Ingress) bool {
	return ingress != nil && b.sets[ingress].closed
}

func (b *builder) annotationOf(ingress *networkingv1.Ingress, name string) string {
	prefix := cmp.Or(b.options.AnnotationsPrefix, annotations.DefaultPrefix)
	return strings.TrimSpace(ingress.Annotations[prefix+"/"+name])
}

// hasCanaryAnnotation reports whether an ingress is a canary, even if other annotations are
// invalid.
func (b *builder) hasCanaryAnnotation(ingress *networkingv1.Ingress) bool {
	return annotations.ProbablyTrue(b.annotationOf(ingress, "canary"))
}

// usesRegex reports whether the paths of an ingress are regular expressions.
func (b *builder) usesRegex(ingress *networkingv1.Ingress) bool {
	return annotations.ProbablyTrue(b.annotationOf(ingress, "use-regex")) || b.annotationOf(ingress, "rewrite-target") != ""
}

// aliasesOf returns the aliases of an ingress, or nil if they are invalid or forbidden.
func (b *builder) aliasesOf(ingress *networkingv1.Ingress) []string {
	const name = "server-alias"
	value := b.annotationOf(ingress, name)
	if value == "" {
		return nil
	}
	bare := new(networkingv1.Ingress)
	bare.Annotations = map[string]string{cmp.Or(b.options.AnnotationsPrefix, annotations.DefaultPrefix) + "/" + name: value}
	set, _, err := annotations.Parse(bare, b.options)
	if err != nil {
		return nil
	}
	return set.Aliases
}

// backendOf returns the name of the backend of a path or of an ingress's default backend. Closed
// ingresses have none, because they send no requests to pods.
func (b *builder) backendOf(ingress *networkingv1.Ingress, wanted *networkingv1.IngressServiceBackend) string {
	if b.closed(ingress) || b.isNameTaken(ingress, wanted) {
		return DefaultBackendName
	}
	return backendName(ingress.Namespace, wanted)
}

// closeRoute makes a location answer 503 if its route in the ingress is closed.
func (b *builder) closeRoute(location *Location, route snapshot.Route) {
	if closure, ok := b.Closed[location.Ingress.Ingress]; ok && closure.Routes[route] {
		location.Denied = &closure.Reason
	}
}

// closeIfNameTaken makes a location answer 503 if its backend name belongs to another service.
// Locations of a closed ingress answer 503 already.
func (b *builder) closeIfNameTaken(location *Location, wanted *networkingv1.IngressServiceBackend) {
	if ingress := location.Ingress.Ingress; !b.closed(ingress) && b.isNameTaken(ingress, wanted) {
		location.Denied = new("its backend would have the same name as another service's")
	}
}

// closeHosts makes the hosts of closed ingresses answer 503 if the missing protection would have
// applied to the whole host.
func (b *builder) closeHosts() {
	for _, server := range b.servers {
		if server.closed == nil {
			continue
		}
		for _, location := range server.Locations {
			location.Denied = cmp.Or(location.Denied, server.closed)
		}
	}
}
