// Package dump turns a dump of a user's cluster into a cluster file that can be stored and shared:
// it takes what a controller reads, replaces certificates and passwords, and leaves everything else
// out. Its one rule: each object of the result is built field by field from data that is known to
// be harmless, so nothing is kept by oversight. A private key is never kept.
package dump

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/manifest"
)

// DefaultPrefix precedes the controller's annotations.
const DefaultPrefix = "nginx.ingress.kubernetes.io"

// Options describe the controller of the dump, and whether names are hashed.
type Options struct {
	// The objects that flags of the controller name. Those that are not in the dump are skipped.
	ConfigMap, TCPServices, UDPServices, DefaultBackendService, DefaultSSLCertificate types.NamespacedName
	// AnnotationsPrefix precedes the controller's annotations; empty means DefaultPrefix.
	AnnotationsPrefix string
	// HashKey is the key of the hashes that replace names; if it is empty, names are kept. Imports
	// with the same key give the same hashes. Without the key, nobody can guess names.
	HashKey []byte
}

// Import is a cluster that was imported.
type Import struct {
	Objects []runtime.Object
	// Flags are the flags that a controller needs to read all of the cluster, under its new names.
	Flags   []string
	Summary Summary
}

// Summary counts what an import did with a dump.
type Summary struct {
	Took      map[string]int `json:"took"`      // by kind
	Endpoints int            `json:"endpoints"` // of the EndpointSlices that it took
	Replaced  map[string]int `json:"replaced"`  // by what
	LeftOut   map[string]int `json:"leftOut"`   // by what, with the reason
	Check     map[string]int `json:"check"`     // texts that were kept unchanged, and may contain secrets
}

// Of imports the objects of a dump. An error names the object at fault.
func Of(manifests []manifest.Manifest, o Options) (Import, error) {
	o.AnnotationsPrefix = cmp.Or(o.AnnotationsPrefix, DefaultPrefix)
	i := &importer{
		Options: o,
		Summary: Summary{Took: map[string]int{}, Replaced: map[string]int{}, LeftOut: map[string]int{}, Check: map[string]int{}},
		names:   names{key: o.HashKey, hosts: map[string]bool{}},
	}
	if err := i.read(manifests); err != nil {
		return Import{}, err
	}
	i.learnHosts()
	i.wanted = i.references()
	objects, err := i.sanitised()
	if err != nil {
		return Import{}, err
	}
	return Import{Objects: objects, Flags: i.flags(), Summary: i.Summary}, nil
}

// Manifests returns the cluster as one file of YAML documents.
func (i Import) Manifests() ([]byte, error) {
	var text bytes.Buffer
	if err := manifest.Write(&text, i.Objects); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// name is the namespace and name of an object.
type name = types.NamespacedName

// importer holds the objects of a dump that a controller may read.
type importer struct {
	Options
	Summary
	names      names
	ingresses  []*networkingv1.Ingress
	classes    []*networkingv1.IngressClass
	services   map[name]*corev1.Service
	slices     []*discoveryv1.EndpointSlice
	secrets    map[name]*corev1.Secret
	configMaps map[name]*corev1.ConfigMap
	wanted     references
}

// read decodes the objects of the kinds that a controller reads, and counts the others.
func (i *importer) read(manifests []manifest.Manifest) error {
	i.services, i.secrets, i.configMaps = map[name]*corev1.Service{}, map[name]*corev1.Secret{}, map[name]*corev1.ConfigMap{}
	seen := map[string]string{}
	for _, m := range manifests {
		gvk := m.Object.GroupVersionKind()
		kind := gvk.GroupVersion().String() + " " + gvk.Kind
		object, known := newObject(kind)
		if !known {
			i.LeftOut[gvk.Kind+", which the controller does not read"]++
			continue
		}
		if object == nil {
			return m.At(fmt.Errorf("Kubernetes has no %s since 1.22: dump networking.k8s.io/v1", kind))
		}
		if m.Object.GetName() == "" {
			return m.At(fmt.Errorf("a %s without metadata.name", gvk.Kind))
		}
		if err := i.decode(m, object); err != nil {
			return m.At(fmt.Errorf("%s %s/%s: %w", gvk.Kind, m.Object.GetNamespace(), m.Object.GetName(), err))
		}
		i.place(object)
		at := fmt.Sprintf("%s %s", gvk.Kind, nameOf(object))
		where := fmt.Sprintf("%s:%d", m.File, m.Line)
		if first, twice := seen[at]; twice {
			return m.At(fmt.Errorf("%s is in the dump twice, first at %s", at, first))
		}
		seen[at] = where
		i.store(object)
	}
	return nil
}

// newObject returns an empty object of a kind that the controller reads, or nil for an old version.
func newObject(kind string) (object metav1.Object, known bool) {
	switch kind {
	case "networking.k8s.io/v1 Ingress":
		return new(networkingv1.Ingress), true
	case "networking.k8s.io/v1 IngressClass":
		return new(networkingv1.IngressClass), true
	case "v1 Service":
		return new(corev1.Service), true
	case "discovery.k8s.io/v1 EndpointSlice":
		return new(discoveryv1.EndpointSlice), true
	case "v1 Secret":
		return new(corev1.Secret), true
	case "v1 ConfigMap":
		return new(corev1.ConfigMap), true
	case "extensions/v1beta1 Ingress", "networking.k8s.io/v1beta1 Ingress":
		return nil, true
	}
	return nil, false
}

// decode converts an object. It omits fields that this version of Kubernetes does not know.
func (i *importer) decode(m manifest.Manifest, to metav1.Object) error {
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(m.Object.Object, to, true)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		i.LeftOut["unknown fields of "+m.Object.GetKind()] += len(strict.Errors())
		err = nil
	}
	return err
}

// place puts an object without a namespace into the namespace default, as kubectl does.
func (i *importer) place(object metav1.Object) {
	if _, cluster := object.(*networkingv1.IngressClass); !cluster && object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
}

func (i *importer) store(object metav1.Object) {
	switch object := object.(type) {
	case *networkingv1.Ingress:
		i.ingresses = append(i.ingresses, object)
	case *networkingv1.IngressClass:
		i.classes = append(i.classes, object)
	case *corev1.Service:
		i.services[nameOf(object)] = object
	case *discoveryv1.EndpointSlice:
		i.slices = append(i.slices, object)
	case *corev1.Secret:
		for key, text := range object.StringData {
			if object.Data == nil {
				object.Data = map[string][]byte{}
			}
			object.Data[key] = []byte(text)
		}
		i.secrets[nameOf(object)] = object
	case *corev1.ConfigMap:
		i.configMaps[nameOf(object)] = object
	}
}

func nameOf(object metav1.Object) name {
	return name{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// flags returns the flags that name objects of the import.
func (i *importer) flags() []string {
	var all []string
	add := func(flag string, named name, exists bool) {
		if exists {
			all = append(all, "--"+flag+"="+i.names.object(named).String())
		}
	}
	add("configmap", i.ConfigMap, i.configMaps[i.ConfigMap] != nil)
	add("tcp-services-configmap", i.TCPServices, i.configMaps[i.TCPServices] != nil)
	add("udp-services-configmap", i.UDPServices, i.configMaps[i.UDPServices] != nil)
	add("default-backend-service", i.DefaultBackendService, i.services[i.DefaultBackendService] != nil)
	add("default-ssl-certificate", i.DefaultSSLCertificate, i.secrets[i.DefaultSSLCertificate] != nil)
	if i.AnnotationsPrefix != DefaultPrefix {
		all = append(all, "--annotations-prefix="+i.AnnotationsPrefix)
	}
	return all
}

// sorted returns objects sorted by name, so that two dumps of a cluster give the same result.
func sorted[T metav1.Object](objects []T) []T {
	return slices.SortedFunc(slices.Values(objects), func(a, b T) int {
		return cmp.Compare(nameOf(a).String(), nameOf(b).String())
	})
}
