package specfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
)

// strict rejects fields that Kubernetes does not have.
var strict = kjson.NewSerializerWithOptions(kjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, kjson.SerializerOptions{Strict: true})

// checkKind checks that an object decodes as the Kubernetes type of its kind, and adds the problems to
// found. Custom resources pass, because their types are not known here.
func checkKind(object *unstructured.Unstructured, at Position, found *Problems) {
	for _, err := range decodeErrors(object.DeepCopy().Object) {
		switch {
		case !runtime.IsNotRegisteredError(err):
			found.Add(at.Line(fieldPath(err.Error())...), fmt.Sprintf("%s %s: %v", object.GetKind(), object.GetName(), err),
				"see kubectl explain "+strings.ToLower(object.GetKind()))
		case scheme.Scheme.IsGroupRegistered(object.GroupVersionKind().Group):
			found.Add(at.Line("kind"), fmt.Sprintf("Kubernetes has no %s in %s", object.GetKind(), object.GetAPIVersion()), "see kubectl api-resources")
		}
	}
}

// decodeErrors returns the errors of decoding an object, from which it removes fields. The decoder stops
// at a value of a wrong type, so the rest is decoded without that field.
func decodeErrors(object map[string]any) (all []error) {
	for {
		data, err := json.Marshal(object)
		if err == nil {
			_, _, err = strict.Decode(data, nil, nil)
		}
		if strict, ok := runtime.AsStrictDecodingError(err); ok {
			return append(all, strict.Errors()...)
		}
		if err == nil {
			return all
		}
		if runtime.IsNotRegisteredError(err) {
			return append(all, err)
		}
		all = append(all, errors.New(strings.TrimPrefix(err.Error(), "json: ")))
		wrong := typedField.FindStringSubmatch(err.Error())
		if wrong == nil || !remove(object, strings.Split(wrong[1], ".")) {
			return all
		}
	}
}

// remove removes a field, from all items of the lists on its path, and reports whether it existed. It skips
// the steps of a path that are embedded structs, which JSON lacks.
func remove(from any, path []string) (removed bool) {
	switch from := from.(type) {
	case []any:
		for _, item := range from {
			removed = remove(item, path) || removed
		}
	case map[string]any:
		value, exists := from[path[0]]
		switch {
		case len(path) == 1:
			delete(from, path[0])
			return exists
		case !exists:
			value = from
		}
		return remove(value, path[1:])
	}
	return removed
}

var (
	typedField  = regexp.MustCompile(`struct field \w+\.(\S+) of type`)
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
