package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	kjson "sigs.k8s.io/json"

	"windtunnel.dev/internal/suggest"
	"windtunnel.dev/internal/yamldoc"
)

// File is a text with Kubernetes manifests. Its name appears in errors.
type File struct {
	Name string
	Data []byte
}

// Manifests is a Source with objects from files.
type Manifests struct {
	ingresses      []*networkingv1.Ingress
	services       []*corev1.Service
	endpointSlices []*discoveryv1.EndpointSlice
	secrets        []*corev1.Secret
	configMaps     []*corev1.ConfigMap

	seen   map[string]bool // by kind and name
	unread map[schema.GroupVersionKind]int
}

// Ingresses returns all ingresses in the files. They count as accepted.
func (m *Manifests) Ingresses() []*networkingv1.Ingress { return m.ingresses }

// Services returns all services in the files.
func (m *Manifests) Services() []*corev1.Service { return m.services }

// EndpointSlices returns all slices in the files.
func (m *Manifests) EndpointSlices() []*discoveryv1.EndpointSlice { return m.endpointSlices }

// Secrets returns all Secrets in the files.
func (m *Manifests) Secrets() []*corev1.Secret { return m.secrets }

// ConfigMaps returns all ConfigMaps in the files.
func (m *Manifests) ConfigMaps() []*corev1.ConfigMap { return m.configMaps }

// Empty reports whether the files have no object that the controller reads.
func (m *Manifests) Empty() bool { return len(m.seen) == 0 }

// Unread returns how many objects of other kinds the files have, which the controller does not read.
func (m *Manifests) Unread() map[schema.GroupVersionKind]int { return m.unread }

// FromYAML reads manifests in YAML or JSON. A file may have several documents, and Lists. An object
// without a namespace belongs to "default". Objects of Kubernetes or custom kinds that the
// controller does not read are only counted; a kind that no cluster has is an error. The error has
// a line "file:line: message" for each invalid document: the line of a YAML syntax error, otherwise
// the document's first line.
func FromYAML(files ...File) (*Manifests, error) {
	manifests := &Manifests{seen: make(map[string]bool), unread: make(map[schema.GroupVersionKind]int)}
	var all []error
	for _, file := range files {
		for document := range yamldoc.Split(file.Data) {
			object, err := document.JSON(file.Name)
			if err != nil {
				all = append(all, err)
				continue
			}
			if yamldoc.Empty(object) {
				continue
			}
			if err := manifests.add(object); err != nil {
				all = append(all, fmt.Errorf("%s:%d: %w", file.Name, document.Line, err))
			}
		}
	}
	if len(all) > 0 {
		return nil, errors.Join(all...)
	}
	return manifests, nil
}

// add adds an object in JSON, or the items of a List.
func (m *Manifests) add(object []byte) error {
	if !yamldoc.IsMapping(object) {
		return yamldoc.ErrNoMapping
	}
	var head struct {
		metav1.TypeMeta
		Items json.RawMessage `json:"items"`
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, &head); err != nil {
		return wrongType(err)
	}
	switch {
	case head.Kind == "":
		return yamldoc.ErrNoKind
	case head.Items != nil && strings.HasSuffix(head.Kind, "List"):
		var items []json.RawMessage
		if json.Unmarshal(head.Items, &items) != nil {
			return yamldoc.ErrNoList
		}
		return m.addItems(head.TypeMeta, items)
	}
	return m.addObject(head.TypeMeta, object)
}

// addItems adds the items of a List, or of a list of one kind as an API server returns it, whose
// items may lack their own kind.
func (m *Manifests) addItems(list metav1.TypeMeta, items []json.RawMessage) error {
	for i, item := range items {
		if !yamldoc.IsMapping(item) {
			return fmt.Errorf("item %d: %w", i+1, yamldoc.ErrNoMapping)
		}
		var own metav1.TypeMeta
		err := kjson.UnmarshalCaseSensitivePreserveInts(item, &own)
		if kind := strings.TrimSuffix(list.Kind, "List"); err == nil && own.Kind == "" && kind != "" {
			err = m.addObject(metav1.TypeMeta{Kind: kind, APIVersion: list.APIVersion}, item)
		} else if err == nil {
			err = m.add(item)
		}
		if err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

func (m *Manifests) addObject(kind metav1.TypeMeta, text []byte) error {
	if kind.APIVersion == "" {
		return yamldoc.ErrNoVersion
	}
	switch kind.APIVersion + " " + kind.Kind {
	case "networking.k8s.io/v1 Ingress":
		return decode(m, text, &m.ingresses)
	case "v1 Service":
		return decode(m, text, &m.services)
	case "discovery.k8s.io/v1 EndpointSlice":
		return decode(m, text, &m.endpointSlices)
	case "v1 Secret":
		return m.addSecret(text)
	case "v1 ConfigMap":
		return decode(m, text, &m.configMaps)
	case "extensions/v1beta1 Ingress", "networking.k8s.io/v1beta1 Ingress":
		return fmt.Errorf("Kubernetes has no %s since 1.22: write networking.k8s.io/v1", kind.APIVersion)
	}
	if err := misread(kind.GroupVersionKind()); err != nil {
		return err
	}
	m.unread[kind.GroupVersionKind()]++
	return nil
}

// kinds contains all kinds of the API versions that the controller reads.
var kinds = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	builder := runtime.NewSchemeBuilder(corev1.AddToScheme, discoveryv1.AddToScheme, networkingv1.AddToScheme)
	utilruntime.Must(builder.AddToScheme(scheme))
	return scheme
}()

// versions maps each kind that the controller reads to its API version.
var versions = map[string]schema.GroupVersion{
	"Ingress": networkingv1.SchemeGroupVersion, "EndpointSlice": discoveryv1.SchemeGroupVersion,
	"Service": corev1.SchemeGroupVersion, "Secret": corev1.SchemeGroupVersion, "ConfigMap": corev1.SchemeGroupVersion,
}

// misread returns an error for a kind that no cluster has; the user meant another kind or another
// file.
func misread(kind schema.GroupVersionKind) error {
	if kind.Group == "windtunnel.dev" {
		return fmt.Errorf("a %s of windtunnel is not an object of a cluster: name a file with manifests", kind.Kind)
	}
	if kinds.Recognizes(kind) {
		return nil
	}
	if !kinds.IsVersionRegistered(kind.GroupVersion()) {
		return misspelt(kind)
	}
	question := suggest.DidYouMean(kind.Kind, slices.Sorted(maps.Keys(kinds.KnownTypes(kind.GroupVersion()))))
	return errors.New(strings.TrimSuffix(fmt.Sprintf("%s has no kind %s; %s", kind.GroupVersion(), kind.Kind, question), "; "))
}

// misspelt returns an error if a kind of an unknown API version looks like one that the controller
// reads. Groups of other projects, such as networking.istio.io, resemble those of Kubernetes, but
// their kinds do not. Groups without a dot belong to Kubernetes.
func misspelt(kind schema.GroupVersionKind) error {
	meant := suggest.Nearest(kind.Kind, slices.Sorted(maps.Keys(versions)))
	version, found := versions[meant]
	if !found {
		return nil
	}
	similar := kind.Group == version.Group || suggest.Nearest(kind.Group, []string{version.Group}) != ""
	if similar || meant == kind.Kind && !strings.Contains(kind.Group, ".") {
		return fmt.Errorf("Kubernetes has no %s of %s: write apiVersion: %s and kind: %s", kind.Kind, kind.GroupVersion(), version, meant)
	}
	return nil
}

// addSecret merges stringData into data, as the API server does.
func (m *Manifests) addSecret(text []byte) error {
	if err := decode(m, text, &m.secrets); err != nil {
		return err
	}
	secret := m.secrets[len(m.secrets)-1]
	for key, text := range secret.StringData {
		if secret.Data == nil {
			secret.Data = make(map[string][]byte)
		}
		secret.Data[key] = []byte(text)
	}
	secret.StringData = nil
	return nil
}

// wrongType shortens an error about a value of the wrong type.
func wrongType(err error) error { return errors.New(strings.TrimPrefix(err.Error(), "json: ")) }

// decode appends an object in JSON to list. It returns an error if the object has an unknown
// field, as kubectl apply does, or is a duplicate.
func decode[T any, P interface {
	*T
	metav1.Object
}](m *Manifests, text []byte, list *[]P) error {
	object := P(new(T))
	unknown, err := kjson.UnmarshalStrict(text, object)
	if err != nil {
		return wrongType(err)
	}
	if len(unknown) > 0 {
		return errors.New(strings.ReplaceAll(errors.Join(unknown...).Error(), "\n", "; "))
	}
	if object.GetName() == "" {
		return errors.New("no metadata.name")
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	key := fmt.Sprintf("%T %s", object, NameOf(object))
	if m.seen[key] {
		return fmt.Errorf("%s is defined twice", NameOf(object))
	}
	m.seen[key] = true
	*list = append(*list, object)
	return nil
}
