package custom

import (
	"encoding/json"
	stderrors "errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapi "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// validateCustom returns the function that validates a version's objects by its schema.
func validateCustom(res *resource.Resource) func(obj, old runtime.Object, in resource.Cluster) field.ErrorList {
	structural := res.Custom.Structural
	if structural == nil {
		return nil
	}
	validator := validate.NewSchemaValidator(OpenAPI(structural, eitherType), nil, "", strfmt.Default)
	rules, _ := rulesOf(structural, nil) // their problems were reported when the definition was created
	return func(obj, old runtime.Object, _ resource.Cluster) field.ErrorList {
		content, err := obj.(*object.Custom).ToUnstructured(res.TypeMeta(""))
		if err != nil {
			return field.ErrorList{field.InternalError(nil, err)}
		}
		problems := schemaProblems(validator.Validate(content))
		problems = append(problems, res.Custom.Scale.Problems(obj.(*object.Custom))...)
		problems = append(problems, listtype.ValidateListSetsAndMaps(nil, structural, content)...)
		if rules == nil {
			return problems
		}
		if slices.ContainsFunc(problems, blocksRules) {
			return append(problems, field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
		}
		var before any
		if old != nil {
			if before, err = old.(*object.Custom).ToUnstructured(res.TypeMeta("")); err != nil {
				return field.ErrorList{field.InternalError(nil, err)}
			}
		}
		return append(problems, rules.validate(nil, content, before)...)
	}
}

// blocksRules reports whether rules cannot be evaluated for an object with this problem, because
// its values may have other types or sizes than the rules rely on.
func blocksRules(problem *field.Error) bool {
	switch problem.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// OpenAPI converts a schema to OpenAPI, which has no type for "number or text": either marks such
// schemas.
func OpenAPI(structural *schema.Structural, either func(*spec.Schema)) *spec.Schema {
	var widen func(s *schema.Structural, to *spec.Schema)
	widen = func(s *schema.Structural, to *spec.Schema) {
		if s == nil || to == nil {
			return
		}
		if s.XIntOrString {
			either(to)
		}
		for name, property := range s.Properties {
			wide := to.Properties[name]
			widen(&property, &wide)
			to.Properties[name] = wide
		}
		if s.Items != nil {
			widen(s.Items, to.Items.Schema)
		}
		if s.AdditionalProperties != nil {
			widen(s.AdditionalProperties.Structural, to.AdditionalProperties.Schema)
		}
	}
	all := structural.ToKubeOpenAPI()
	widen(structural, all)
	return all
}

func eitherType(s *spec.Schema) { s.Type = spec.StringOrArray{"integer", "string"} } // for the validator

func schemaProblems(result *validate.Result) (problems field.ErrorList) {
	for _, err := range result.Errors {
		var problem *openapi.Validation
		if !stderrors.As(err, &problem) {
			problems = append(problems, field.Invalid(nil, "", err.Error()))
			continue
		}
		problems = append(problems, schemaProblem(problem))
	}
	return problems
}

// schemaProblem words the library's error as kube-apiserver does.
func schemaProblem(err *openapi.Validation) *field.Error {
	var path *field.Path
	if name := strings.TrimPrefix(err.Name, "."); name != "" {
		path = field.NewPath(name)
	}
	limit, _ := err.Valid.(int64)
	actual, _ := err.Value.(int64)
	value := err.Value
	if value == nil {
		value = ""
	}
	switch err.Code() {
	case openapi.RequiredFailCode:
		return field.Required(path, "")
	case openapi.EnumFailCode:
		return field.NotSupported(path, err.Value, enumTexts(err.Values))
	case openapi.TooLongFailCode:
		return field.TooLong(path, "", int(limit))
	case openapi.MaxItemsFailCode, openapi.TooManyPropertiesCode:
		return field.TooMany(path, int(actual), int(limit))
	case openapi.InvalidTypeCode:
		return field.TypeInvalid(path, value, err.Error())
	}
	return field.Invalid(path, value, err.Error())
}

func enumTexts(values []any) []string {
	texts := make([]string, len(values))
	for i, value := range values {
		if text, ok := value.(string); ok {
			texts[i] = text
			continue
		}
		b, err := json.Marshal(value)
		if err != nil {
			b = fmt.Append(nil, value)
		}
		texts[i] = string(b)
	}
	return texts
}
