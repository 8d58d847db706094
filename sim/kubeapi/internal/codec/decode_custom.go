package codec

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metaschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func decodeCustomYAML(res *resource.Resource, body []byte) (runtime.Object, []error, error) {
	asJSON, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, nil, fmt.Errorf("the body is not YAML: %w", err)
	}
	obj, problems, err := decodeCustomJSON(res, asJSON, body)
	if _, strict := yaml.YAMLToJSONStrict(body); strict != nil { // duplicate keys
		problems = append(problems, strict)
	}
	return obj, problems, err
}

// DecodeCustom decodes body as an object of a custom resource. It drops and reports fields that the
// schema does not have, and sets the defaults of the schema.
func DecodeCustom(res *resource.Resource, body []byte) (runtime.Object, []error, error) {
	return decodeCustomJSON(res, body, body)
}

// decodeCustomJSON decodes a JSON body. sent is the body that the client sent, for error messages.
func decodeCustomJSON(res *resource.Resource, body, sent []byte) (runtime.Object, []error, error) {
	if levels, _ := Nesting(body); levels > MaxDepth {
		return nil, nil, ErrTooDeep(levels)
	}
	var content map[string]any
	problems, err := kjson.UnmarshalStrict(body, &content, kjson.DisallowDuplicateFields)
	if err != nil {
		return nil, nil, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if content == nil {
		return nil, nil, errors.New("the body is not a JSON object")
	}
	structural := res.Custom.Structural
	if structural != nil {
		pruned := pruning.PruneWithOptions(content, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		for _, path := range pruned {
			problems = append(problems, fmt.Errorf("unknown field %q", path))
		}
	}
	res.Custom.SetDefaults(content)
	obj := &object.Custom{}
	unknown, err := obj.FromUnstructured(content)
	if err != nil {
		return nil, nil, err
	}
	for _, problem := range unknown {
		problems = append(problems, fmt.Errorf("%s", strings.Replace(problem.Error(), `field "`, `field "metadata.`, 1)))
	}
	if err := checkCustomKind(res, obj, sent); err != nil {
		return nil, nil, err
	}
	obj.TypeMeta = metav1.TypeMeta{}
	return obj, problems, nil
}

// checkCustomKind refuses an object of another kind, or without a kind, which built-in resources
// accept.
func checkCustomKind(res *resource.Resource, obj *object.Custom, sent []byte) error {
	want := res.TypeMeta("")
	switch {
	case obj.Kind == "":
		return runtime.NewMissingKindErr(string(sent))
	case obj.APIVersion != want.APIVersion:
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", obj.APIVersion, want.APIVersion))
	case obj.Kind != want.Kind:
		return apierrors.NewInvalid(metaschema.GroupKind{Group: res.Group, Kind: obj.Kind}, obj.Name,
			field.ErrorList{field.Invalid(field.NewPath("kind"), obj.Kind, "must be "+want.Kind)})
	}
	return nil
}
