package kubeapi

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// decodeCustom decodes body as an object of r's custom resource: it drops the
// fields that the schema does not have and sets its defaults.
func decodeCustom(w http.ResponseWriter, r *request, body []byte) (runtime.Object, error) {
	var content map[string]any
	problems, err := kjson.UnmarshalStrict(body, &content, kjson.DisallowDuplicateFields)
	if err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("the body is not a JSON object: %v", err))
	}
	if content == nil {
		return nil, errors.NewBadRequest("the body is not a JSON object")
	}
	structural := r.res.custom.structural
	if structural != nil {
		pruned := pruning.PruneWithOptions(content, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
		for _, path := range pruned {
			problems = append(problems, fmt.Errorf("unknown field %q", path))
		}
		setSchemaDefaults(content, structural)
	}
	obj := &customObject{}
	unknown, err := obj.fill(content)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	for _, problem := range unknown {
		problems = append(problems, fmt.Errorf("%s", strings.Replace(problem.Error(), `field "`, `field "metadata.`, 1)))
	}
	if obj.Kind != "" || obj.APIVersion != "" {
		if err := checkKind(r.res, obj.APIVersion, obj.Kind); err != nil {
			return nil, err
		}
	}
	obj.TypeMeta = metav1.TypeMeta{}
	return obj, reportFields(w, r, problems)
}

// reportFields tells of unknown and duplicate fields as fieldValidation says.
func reportFields(w http.ResponseWriter, r *request, problems []error) error {
	switch r.query.Get("fieldValidation") {
	case metav1.FieldValidationIgnore:
		return nil
	case metav1.FieldValidationStrict:
		if len(problems) > 0 {
			return errors.NewBadRequest(runtime.NewStrictDecodingError(problems).Error())
		}
	}
	for _, problem := range problems {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", problem.Error()))
	}
	return nil
}

// setSchemaDefaults sets the defaults of s in what is missing from x, or null where
// null is not allowed.
func setSchemaDefaults(x any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for name, property := range s.Properties {
			value, there := x[name]
			if property.Default.Object != nil && (!there || (value == nil && !property.Nullable)) {
				x[name] = runtime.DeepCopyJSONValue(property.Default.Object)
			}
		}
		for name, value := range x {
			if property, ok := s.Properties[name]; ok {
				setSchemaDefaults(value, &property)
			} else if s.AdditionalProperties != nil {
				setSchemaDefaults(value, s.AdditionalProperties.Structural)
			}
		}
	case []any:
		for _, item := range x {
			setSchemaDefaults(item, s.Items)
		}
	}
}
