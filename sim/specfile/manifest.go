package specfile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/manifest"
)

// NameAnnotation gives a manifest a name in the file that differs from its metadata.name, so that a
// file can have two versions of the same object. Parse removes the annotation from the object.
const NameAnnotation = "windtunnel.dev/manifest"

// Manifest is a Kubernetes object of a file.
type Manifest struct {
	Name   string // the name that steps use
	Named  bool   // the name comes from NameAnnotation
	Line   int    // in the file, from 1
	Object *unstructured.Unstructured
}

// Identity returns the kind, namespace and name of the object that the manifest is a version of.
func (m Manifest) Identity() string {
	return fmt.Sprintf("%s %s/%s", m.Object.GroupVersionKind().GroupKind(), m.Object.GetNamespace(), m.Object.GetName())
}

// Manifests decodes documents as Kubernetes objects, and adds their problems to found. It also
// returns the node of each manifest. A manifest that does not decode has no object, but its name, so
// that the steps that name it cause no further problems. kind is the kind of the file's first
// document, which no other document may have.
func Manifests(documents []*yaml.Node, kind, apiVersion string, found *Problems) ([]Manifest, []*yaml.Node) {
	var manifests []Manifest
	nodes := items(documents)
	for _, node := range nodes {
		m, ok := readManifest(node, kind, apiVersion, found)
		if !ok {
			m = unusable(node)
		}
		manifests = append(manifests, m)
	}
	return manifests, nodes
}

// CheckRepeated reports each name that has the same object twice, because a step would then write
// it twice.
func CheckRepeated(manifests []Manifest, found *Problems) {
	first := map[string]Manifest{}
	for _, m := range manifests {
		if m.Object == nil {
			continue
		}
		key := m.Name + "\n" + m.Identity()
		if before, again := first[key]; again {
			found.Add(m.Line, fmt.Sprintf("a second %s; the first is at line %d", m.Identity(), before.Line),
				fmt.Sprintf("give one of them another name with the annotation %s", NameAnnotation))
			continue
		}
		first[key] = m
	}
}

// unusable returns a placeholder for a manifest that did not decode.
func unusable(node *yaml.Node) Manifest {
	at := Position{node}
	name := at.Text("metadata", "annotations", NameAnnotation)
	return Manifest{Name: cmp.Or(name, at.Text("metadata", "name")), Named: name != "", Line: at.Line()}
}

// readManifest decodes one document as a Kubernetes object. It adds the problems of the document to
// found; ok reports whether there is an object. An object with problems is checked further, so that all
// problems of a manifest are found at once.
func readManifest(node *yaml.Node, kind, apiVersion string, found *Problems) (m Manifest, ok bool) {
	at := Position{node}
	const shape = "a manifest starts with apiVersion:, kind: and metadata: {name: …}"
	if at.Text("kind") == kind && at.Text("apiVersion") == apiVersion {
		noun := strings.ToLower(kind)
		found.Add(at.Line("kind"), "a second "+noun, "write each "+noun+" to its own file")
		return m, false
	}
	var missing []string
	for _, path := range [][]any{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		if at.Text(path...) == "" {
			missing = append(missing, path[len(path)-1].(string))
		}
	}
	if len(missing) > 0 {
		found.Add(at.Line(), "a manifest without "+strings.Join(missing, ", "), shape)
		return m, false
	}
	data, err := toJSON(node)
	if err != nil {
		found.YAML(err, at.Line())
		return m, false
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		found.Add(at.Line(), "the manifest does not decode: "+strings.TrimPrefix(err.Error(), "json: "), shape)
		return m, false
	}
	checkKind(object, at, found)
	manifest.Undump(object)
	m = Manifest{Name: object.GetName(), Line: at.Line(), Object: object}
	if annotations := object.GetAnnotations(); annotations[NameAnnotation] != "" {
		m.Name, m.Named = annotations[NameAnnotation], true
		delete(annotations, NameAnnotation)
		object.SetAnnotations(annotations)
	}
	return m, true
}

// toJSON decodes a document as kubectl does, and encodes it as JSON.
func toJSON(node *yaml.Node) ([]byte, error) {
	asKubectl(node)
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", Position{node}.Line(), err)
	}
	return data, nil
}

// asKubectl converts to text what JSON can only express as text, as kubectl does: keys, such as the
// port numbers in a ConfigMap of TCP services, and dates.
func asKubectl(node *yaml.Node) {
	for i, child := range node.Content {
		key := node.Kind == yaml.MappingNode && i%2 == 0 && child.ShortTag() != "!!merge"
		if child.Kind == yaml.ScalarNode && (key || child.ShortTag() == "!!timestamp") {
			child.Tag = "!!str"
		}
		asKubectl(child)
	}
}
