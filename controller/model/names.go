package model

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Names that ingress-nginx gives.
const (
	DefaultBackendName = "upstream-default-backend"
	DefaultServerName  = "_"
)

// Backends are sorted by name.
type Backends []*Backend

// Find is the backend of that name, nil when there is none.
func (b Backends) Find(name string) *Backend {
	i, found := slices.BinarySearchFunc(b, name, func(b *Backend, name string) int { return cmp.Compare(b.Name, name) })
	if !found {
		return nil
	}
	return b[i]
}

// backendName is ingress-nginx's name of a service's port.
func backendName(namespace string, service *networkingv1.IngressServiceBackend) string {
	port := ServicePort(service)
	if port.String() == "0" {
		return namespace + "-INVALID"
	}
	return namespace + "-" + service.Name + "-" + port.String()
}

// ServicePort is the port of a service as an ingress names it: by name if it
// has one, else by number; 0 when it has neither.
func ServicePort(service *networkingv1.IngressServiceBackend) intstr.IntOrString {
	if service.Port.Name != "" {
		return intstr.FromString(service.Port.Name)
	}
	return intstr.FromInt32(service.Port.Number)
}

// parseName reads namespace/name, as annotations and the ConfigMap have it.
func parseName(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}
