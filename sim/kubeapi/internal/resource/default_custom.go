package resource

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// SetDefaults sets the defaults of the schema in an object's content.
func (c *Custom) SetDefaults(content map[string]any) { setSchemaDefaults(content, c.Structural) }

// setSchemaDefaults sets the defaults of s where x has no value, or a null that the schema does not
// allow. Such a null of a field without a default is removed.
func setSchemaDefaults(x any, s *structuralschema.Structural) {
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
			field := fieldSchema(s, name)
			if value == nil && field != nil && !field.Nullable {
				delete(x, name)
				continue
			}
			setSchemaDefaults(value, field)
		}
	case []any:
		for _, item := range x {
			setSchemaDefaults(item, s.Items)
		}
	}
}

// fieldSchema returns the schema of a field, or nil if it has none.
func fieldSchema(s *structuralschema.Structural, name string) *structuralschema.Structural {
	if property, ok := s.Properties[name]; ok {
		return &property
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}
