package specfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"

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

// strict rejects fields that Kubernetes does not have.
var strict = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Strict: true})

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
// found; ok reports whether the manifest can be used.
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
	if !fitsItsKind(object, data, at, found) {
		return m, false
	}
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

// fitsItsKind reports whether an object decodes as the Kubernetes type of its kind, and adds the
// problems to found. Custom resources pass, because their types are not known here.
func fitsItsKind(object *unstructured.Unstructured, data []byte, at Position, found *Problems) bool {
	_, _, err := strict.Decode(data, nil, nil)
	switch {
	case err == nil:
		return true
	case runtime.IsNotRegisteredError(err):
		if !scheme.Scheme.IsGroupRegistered(object.GroupVersionKind().Group) {
			return true
		}
		found.Add(at.Line("kind"), fmt.Sprintf("Kubernetes has no %s in %s", object.GetKind(), object.GetAPIVersion()), "see kubectl api-resources")
	default:
		for _, err := range strictErrors(err) {
			found.Add(at.Line(fieldPath(err.Error())...), fmt.Sprintf("%s %s: %v", object.GetKind(), object.GetName(), err),
				"see kubectl explain "+strings.ToLower(object.GetKind()))
		}
	}
	return false
}

func strictErrors(err error) []error {
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		return strict.Errors()
	}
	return []error{errors.New(strings.TrimPrefix(err.Error(), "json: "))}
}

var (
	quotedField = regexp.MustCompile(`field "([^"]+)"`)
	fieldStep   = regexp.MustCompile(`[^.\[\]]+`)
)

// fieldPath returns the path of the field that an error of Kubernetes' decoder names, such as
// unknown field "spec.rules[0].hosts".
func fieldPath(message string) []any {
	var path []any
	quoted := quotedField.FindStringSubmatch(message)
	if quoted == nil {
		return nil
	}
	for _, step := range fieldStep.FindAllString(quoted[1], -1) {
		if index, err := strconv.Atoi(step); err == nil {
			path = append(path, index)
		} else {
			path = append(path, step)
		}
	}
	return path
}
