package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// File is a text of Kubernetes manifests, and its name for errors.
type File struct {
	Name string
	Data []byte
}

// Manifests is a Source of objects from files.
type Manifests struct {
	ingresses      []*networkingv1.Ingress
	services       []*corev1.Service
	endpointSlices []*discoveryv1.EndpointSlice
	secrets        []*corev1.Secret
	configMaps     []*corev1.ConfigMap

	seen map[string]bool // kind and name
}

// Ingresses are all that the files hold: they count as accepted.
func (m *Manifests) Ingresses() []*networkingv1.Ingress { return m.ingresses }

// Services are all that the files hold.
func (m *Manifests) Services() []*corev1.Service { return m.services }

// EndpointSlices are all that the files hold.
func (m *Manifests) EndpointSlices() []*discoveryv1.EndpointSlice { return m.endpointSlices }

// Secrets are all that the files hold.
func (m *Manifests) Secrets() []*corev1.Secret { return m.secrets }

// ConfigMaps are all that the files hold.
func (m *Manifests) ConfigMaps() []*corev1.ConfigMap { return m.configMaps }

// FromYAML reads manifests, YAML or JSON, several to a file and Lists, too. An
// object without a namespace is in "default"; kinds that the controller does
// not read are left out. An error says "file:line: what" of every document
// that is wrong, the line being the document's first.
func FromYAML(files ...File) (*Manifests, error) {
	manifests := &Manifests{seen: make(map[string]bool)}
	var all []error
	for _, file := range files {
		for line, document := range documents(file.Data) {
			if err := manifests.add(document); err != nil {
				all = append(all, fmt.Errorf("%s:%d: %w", file.Name, line, err))
			}
		}
	}
	if len(all) > 0 {
		return nil, errors.Join(all...)
	}
	return manifests, nil
}

// documents are the YAML documents of a text, each with the number of its
// first line that says something. Empty ones are left out.
func documents(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		var document []byte
		number, first := 0, 0
		for line := range bytes.Lines(text) {
			number++
			if isSeparator(line) {
				if first > 0 && !yield(first, document) {
					return
				}
				// The lines before it stay as empty ones, for the line numbers in YAML's own errors.
				document, first = bytes.Repeat([]byte("\n"), number), 0
				continue
			}
			document = append(document, line...)
			if content := bytes.TrimSpace(line); first == 0 && len(content) > 0 && content[0] != '#' {
				first = number
			}
		}
		if first > 0 {
			yield(first, document)
		}
	}
}

func isSeparator(line []byte) bool {
	rest, found := bytes.CutPrefix(line, []byte("---"))
	return found && (len(bytes.TrimSpace(rest)) == 0 || rest[0] == ' ')
}

func (m *Manifests) add(document []byte) error {
	var head struct {
		metav1.TypeMeta
		Items []json.RawMessage
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return err
	}
	switch {
	case head.Kind == "":
		return errors.New("no kind: a manifest says apiVersion and kind")
	case head.Items != nil && strings.HasSuffix(head.Kind, "List"):
		return m.addItems(head.TypeMeta, head.Items)
	}
	return m.addObject(head.TypeMeta, document)
}

// addItems adds those of a List of all kinds, or of a list of one kind as an API
// server answers, whose items need not say it.
func (m *Manifests) addItems(list metav1.TypeMeta, items []json.RawMessage) error {
	for i, item := range items {
		var own metav1.TypeMeta
		err := json.Unmarshal(item, &own)
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

func (m *Manifests) addObject(kind metav1.TypeMeta, document []byte) error {
	switch kind.APIVersion + " " + kind.Kind {
	case "networking.k8s.io/v1 Ingress":
		return decode(m, document, &m.ingresses)
	case "v1 Service":
		return decode(m, document, &m.services)
	case "discovery.k8s.io/v1 EndpointSlice":
		return decode(m, document, &m.endpointSlices)
	case "v1 Secret":
		return m.addSecret(document)
	case "v1 ConfigMap":
		return decode(m, document, &m.configMaps)
	case "extensions/v1beta1 Ingress", "networking.k8s.io/v1beta1 Ingress":
		return fmt.Errorf("Kubernetes has no %s since 1.22: write networking.k8s.io/v1", kind.APIVersion)
	}
	return nil
}

// addSecret puts stringData into data, as the API server does.
func (m *Manifests) addSecret(document []byte) error {
	if err := decode(m, document, &m.secrets); err != nil {
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

// decode appends the object of a document to list. A field that the kind does
// not have is an error, as for kubectl apply; so is an object that is there
// already.
func decode[T any, P interface {
	*T
	metav1.Object
}](m *Manifests, document []byte, list *[]P) error {
	object := P(new(T))
	if err := yaml.UnmarshalStrict(document, object); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: json: "))
	}
	if object.GetName() == "" {
		return errors.New("no metadata.name")
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	key := fmt.Sprintf("%T %s", object, NameOf(object))
	if m.seen[key] {
		return fmt.Errorf("%s is there already", NameOf(object))
	}
	m.seen[key] = true
	*list = append(*list, object)
	return nil
}
