package kubeapi

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// customSchemas are the schemas of a group version's custom kinds, by their names in
// an OpenAPI document, for kubectl explain.
func (t table) customSchemas(of metav1.GroupVersion) map[string]*spec.Schema {
	schemas := map[string]*spec.Schema{}
	for _, res := range t {
		if res.custom == nil || res.group != of.Group || res.version != of.Version {
			continue
		}
		s := &spec.Schema{}
		if res.custom.structural != nil {
			s = res.custom.structural.ToKubeOpenAPI()
		}
		for name, description := range map[string]string{
			"apiVersion": "The versioned schema of this representation of the object.",
			"kind":       "The REST resource that this object represents.",
		} {
			s.SetProperty(name, *spec.StringProperty().WithDescription(description))
		}
		s.SetProperty("metadata", *new(spec.Schema).Typed("object", "").WithDescription("Standard object's metadata."))
		s.AddExtension("x-kubernetes-group-version-kind", []metav1.GroupVersionKind{metav1.GroupVersionKind(res.gvk())})
		schemas[schemaName(res)] = s
	}
	return schemas
}

// schemaName is the group's parts from last to first, the version and the kind: com.example.v1.Widget.
func schemaName(res *resource) string {
	parts := strings.Split(res.group, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(append(parts, res.version, res.kind), ".")
}
