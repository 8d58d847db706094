package model

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/internal/blocks"
)

// These names are ingress-nginx's.
const (
	DefaultBackendName = "upstream-default-backend"
	DefaultServerName  = "_"
)

// BackendList is a list of backends, sorted by name, that shares most of its memory with the lists
// that it is derived from.
type BackendList struct{ blocks.List[*Backend] }

// NewBackendList returns a list of backends that are sorted by name. It keeps the slice, which must
// not be modified afterwards.
func NewBackendList(sorted Backends) BackendList { return BackendList{blocks.Of(sorted)} }

// Find returns the backend of that name, or nil.
func (l BackendList) Find(name string) *Backend {
	if i, found := l.search(name); found {
		return l.At(i)
	}
	return nil
}

// search returns the index of the backend of that name, and whether there is one.
func (l BackendList) search(name string) (int, bool) {
	i := sort.Search(l.Len(), func(i int) bool { return l.At(i).Name >= name })
	return i, i < l.Len() && l.At(i).Name == name
}

// Backends is a list of backends, sorted by name.
type Backends []*Backend

// Find returns the backend of that name, or nil.
func (b Backends) Find(name string) *Backend {
	i, found := slices.BinarySearchFunc(b, name, func(b *Backend, name string) int { return cmp.Compare(b.Name, name) })
	if !found {
		return nil
	}
	return b[i]
}

// backendName returns ingress-nginx's name for the backend of a service port.
func backendName(namespace string, service *networkingv1.IngressServiceBackend) string {
	port := ServicePort(service)
	if port.String() == "0" {
		return namespace + "-INVALID"
	}
	return namespace + "-" + service.Name + "-" + port.String()
}

// ServicePort returns the port of a service as the ingress gives it: its name if there is one,
// otherwise its number, or 0 if there is neither.
func ServicePort(service *networkingv1.IngressServiceBackend) intstr.IntOrString {
	if service.Port.Name != "" {
		return intstr.FromString(service.Port.Name)
	}
	return intstr.FromInt32(service.Port.Number)
}

// parseName parses "namespace/name", the form in annotations and in the ConfigMap.
func parseName(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}
