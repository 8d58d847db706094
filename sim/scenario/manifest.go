package scenario

import (
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

// Manifest is a Kubernetes object of a scenario file.
type Manifest struct {
	Name   string // the name that steps use
	Line   int    // in the file, from 1
	Object *unstructured.Unstructured
}

// identity returns the kind, namespace and name of the object that the manifest is a version of.
func (m Manifest) identity() string {
	return fmt.Sprintf("%s %s/%s", m.Object.GroupVersionKind().GroupKind(), m.Object.GetNamespace(), m.Object.GetName())
}

// strict rejects fields that Kubernetes does not have.
var strict = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Strict: true})

// readManifest decodes one document as a Kubernetes object. It adds the problems of the document to
// found; ok reports whether the manifest can be used.
func readManifest(node *yaml.Node, found *problems) (m Manifest, ok bool) {
	at := position{node}
	const shape = "a manifest starts with apiVersion:, kind: and metadata: {name: …}"
	if at.text("kind") == Kind && at.text("apiVersion") == APIVersion {
		found.add(at.line("kind"), "a second scenario", "write each scenario to its own file")
		return m, false
	}
	var missing []string
	for _, path := range [][]any{{"apiVersion"}, {"kind"}, {"metadata", "name"}} {
		if at.text(path...) == "" {
			missing = append(missing, path[len(path)-1].(string))
		}
	}
	if len(missing) > 0 {
		found.add(at.line(), "a manifest without "+strings.Join(missing, ", "), shape)
		return m, false
	}
	data, err := toJSON(node)
	if err != nil {
		found.yaml(err, at.line())
		return m, false
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(data); err != nil {
		found.add(at.line(), "the manifest does not decode: "+strings.TrimPrefix(err.Error(), "json: "), shape)
		return m, false
	}
	if !fitsItsKind(object, data, at, found) {
		return m, false
	}
	manifest.Undump(object)
	m = Manifest{Name: object.GetName(), Line: at.line(), Object: object}
	if annotations := object.GetAnnotations(); annotations[NameAnnotation] != "" {
		m.Name = annotations[NameAnnotation]
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
		return nil, fmt.Errorf("line %d: %w", position{node}.line(), err)
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
func fitsItsKind(object *unstructured.Unstructured, data []byte, at position, found *problems) bool {
	_, _, err := strict.Decode(data, nil, nil)
	switch {
	case err == nil:
		return true
	case runtime.IsNotRegisteredError(err):
		if !scheme.Scheme.IsGroupRegistered(object.GroupVersionKind().Group) {
			return true
		}
		found.add(at.line("kind"), fmt.Sprintf("Kubernetes has no %s in %s", object.GetKind(), object.GetAPIVersion()), "see kubectl api-resources")
	default:
		for _, err := range strictErrors(err) {
			found.add(at.line(fieldPath(err.Error())...), fmt.Sprintf("%s %s: %v", object.GetKind(), object.GetName(), err),
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
