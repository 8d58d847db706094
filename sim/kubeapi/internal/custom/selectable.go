package custom

import (
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// selectablePaths are the paths of the fields that selectors may name, by their names: spec.host
// has the path spec, host.
func selectablePaths(v *apiextensionsv1.CustomResourceDefinitionVersion) map[string][]string {
	paths := map[string][]string{}
	for _, f := range v.SelectableFields {
		name := strings.TrimPrefix(f.JSONPath, ".")
		paths[name] = strings.Split(name, ".")
	}
	return paths
}

// validateSelectable refuses fields that the schema does not have or that are not plain values. If
// all versions have the same fields the error names the definition's, as in kube-apiserver.
func validateSelectable(crd *apiextensionsv1.CustomResourceDefinition, spec *field.Path) (problems field.ErrorList) {
	versions := crd.Spec.Versions
	differ := func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return !reflect.DeepEqual(v.SelectableFields, versions[0].SelectableFields)
	}
	if slices.ContainsFunc(versions, differ) {
		for i, v := range versions {
			problems = append(problems, selectableProblems(&v, spec.Child("versions").Index(i))...)
		}
		return problems
	}
	if len(versions) > 0 {
		problems = selectableProblems(&versions[0], spec)
	}
	return problems
}

func selectableProblems(v *apiextensionsv1.CustomResourceDefinitionVersion, at *field.Path) (problems field.ErrorList) {
	for i, f := range v.SelectableFields {
		if problem := selectableProblem(v, f.JSONPath); problem != "" {
			problems = append(problems, field.Invalid(at.Child("selectableFields").Index(i).Child("jsonPath"), f.JSONPath, problem))
		}
	}
	return problems
}

func selectableProblem(v *apiextensionsv1.CustomResourceDefinitionVersion, path string) string {
	name, dotted := strings.CutPrefix(path, ".")
	if !dotted {
		return "is an invalid path: must be a simple json path starting with ."
	}
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return "" // reported as a separate problem
	}
	s := *v.Schema.OpenAPIV3Schema
	for part := range strings.SplitSeq(name, ".") {
		next, known := s.Properties[part]
		if !known {
			return "is an invalid path: does not refer to a valid field"
		}
		s = next
	}
	if !slices.Contains([]string{"string", "boolean", "integer"}, s.Type) {
		return "must point to a field of type string, boolean or integer"
	}
	return ""
}
