package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"windtunnel.dev/sim/kubeapi/internal/custom"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

const SchemaRefs = "#/components/schemas/"

// metadataSchemas returns the schemas of ObjectMeta and its parts, which custom objects have, too.
var metadataSchemas = sync.OnceValues(func() (map[string]*spec.Schema, error) {
	w := SchemaWriter{Refs: SchemaRefs, V3: true, Schemas: Document{}}
	w.reference(reflect.TypeFor[metav1.ObjectMeta]())
	w.reference(reflect.TypeFor[metav1.ListMeta]())
	body, err := json.Marshal(w.Schemas)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of metadata: %w", err)
	}
	var schemas map[string]*spec.Schema
	err = json.Unmarshal(body, &schemas)
	return schemas, err
})

// CustomSchemas returns the schemas of the custom kinds of a group version for kubectl explain, by
// their names in an OpenAPI document, with the schemas of their metadata. It returns no schemas if
// no kind is custom.
func CustomSchemas(t resource.Table, of metav1.GroupVersion) (map[string]*spec.Schema, error) {
	schemas := map[string]*spec.Schema{}
	for _, res := range t {
		if res.Custom == nil || res.Group != of.Group || res.Version != of.Version {
			continue
		}
		metadata, err := metadataSchemas()
		if err != nil {
			return nil, err
		}
		maps.Copy(schemas, metadata)
		schemas[schemaName(res)] = customSchema(res)
		schemas[schemaName(res)+"List"] = customListSchema(res)
	}
	return schemas, nil
}

func anyOfTypes(s *spec.Schema) { // as in the documents of kube-apiserver
	s.AnyOf = []spec.Schema{*new(spec.Schema).Typed("integer", ""), *new(spec.Schema).Typed("string", "")}
}

func customSchema(res *resource.Resource) *spec.Schema {
	s := &spec.Schema{}
	if res.Custom.Structural != nil {
		s = custom.OpenAPI(res.Custom.Structural, anyOfTypes)
	} else {
		s.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	}
	describeKind(s, res, res.Kind, reflect.TypeFor[metav1.ObjectMeta]())
	return s
}

func customListSchema(res *resource.Resource) *spec.Schema {
	s := new(spec.Schema).Typed("object", "").WithRequired("items")
	items := *spec.ArrayProperty(spec.RefProperty(SchemaRefs + schemaName(res)))
	s.SetProperty("items", *items.WithDescription("The objects."))
	describeKind(s, res, res.TypeMeta("List").Kind, reflect.TypeFor[metav1.ListMeta]())
	return s
}

// describeKind adds the properties that all kinds have.
func describeKind(s *spec.Schema, res *resource.Resource, kind string, metadata reflect.Type) {
	for name, description := range map[string]string{
		"apiVersion": "The versioned schema of this representation of the object.",
		"kind":       "The REST resource that this object represents.",
	} {
		s.SetProperty(name, *spec.StringProperty().WithDescription(description))
	}
	ref := *spec.RefProperty(SchemaRefs + modelName(metadata))
	s.SetProperty("metadata", *new(spec.Schema).WithAllOf(ref).WithDescription("Standard metadata."))
	s.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{"group": res.Group, "version": res.Version, "kind": kind}})
}

// FieldTypes returns the type information about a custom kind for field managers.
func FieldTypes(res *resource.Resource) (managedfields.TypeConverter, error) {
	schemas, err := metadataSchemas()
	if err != nil {
		return nil, err
	}
	schemas = maps.Clone(schemas)
	schemas[schemaName(res)] = customSchema(res)
	return managedfields.NewTypeConverter(schemas, false)
}

// schemaName returns the group's parts from last to first, the version and the kind:
// com.example.v1.Widget.
func schemaName(res *resource.Resource) string {
	parts := strings.Split(res.Group, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(append(parts, res.Version, res.Kind), ".")
}
