package openapi

import (
	"reflect"
	"strings"
)

// SchemaWriter writes the OpenAPI schemas of Go types from their json and patch tags, generated
// names and descriptions.
type SchemaWriter struct {
	Refs    string // prefix of references
	V3      bool
	Schemas Document
}

// Interfaces by which types describe their schemas. Their methods have value receivers, not
// pointers.
type (
	modelNamed interface{ OpenAPIModelName() string }
	documented interface{ SwaggerDoc() map[string]string }
	scalar     interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	}
	alternative interface{ OpenAPIV3OneOfTypes() []string }
)

func modelName(t reflect.Type) string {
	if named, ok := reflect.Zero(t).Interface().(modelNamed); ok {
		return named.OpenAPIModelName()
	}
	return strings.ReplaceAll(t.PkgPath(), "/", ".") + "." + t.Name()
}

// of returns the schema of a field's type.
func (w SchemaWriter) of(t reflect.Type) Document {
	switch t.Kind() {
	case reflect.Pointer:
		return w.of(t.Elem())
	case reflect.Struct:
		return w.reference(t)
	case reflect.Map:
		return Document{"type": "object", "additionalProperties": w.item(t.Elem())}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return Document{"type": "string", "format": "byte"}
		}
		return Document{"type": "array", "items": w.item(t.Elem())}
	case reflect.Bool:
		return Document{"type": "boolean"}
	case reflect.Int64, reflect.Uint64, reflect.Int, reflect.Uint:
		return Document{"type": "integer", "format": "int64"}
	case reflect.Int32, reflect.Uint32, reflect.Int16, reflect.Uint16, reflect.Int8, reflect.Uint8:
		return Document{"type": "integer", "format": "int32"}
	case reflect.Float32, reflect.Float64:
		return Document{"type": "number", "format": "double"}
	}
	return Document{"type": "string"}
}

// item returns a schema without a description beside it. OpenAPI v3 forbids anything beside a
// reference, so item wraps references in the same way as fields do.
func (w SchemaWriter) item(t reflect.Type) Document { return w.wrapped(w.of(t)) }

func (w SchemaWriter) wrapped(s Document) Document {
	if ref, ok := s["$ref"]; ok && w.V3 {
		return Document{"allOf": []Document{{"$ref": ref}}, "default": Document{}}
	}
	return s
}

// reference writes the schema of a struct, once, and returns a reference to it.
func (w SchemaWriter) reference(t reflect.Type) Document {
	name := modelName(t)
	ref := Document{"$ref": w.Refs + name}
	if _, done := w.Schemas[name]; done {
		return ref
	}
	s := Document{"type": "object"}
	w.Schemas[name] = s // stored before its fields are written, because types can be recursive
	value := reflect.Zero(t).Interface()
	docs := docsOf(t)
	if text := docs[""]; text != "" {
		s["description"] = text
	}
	if plain, ok := value.(scalar); ok {
		w.scalar(s, plain)
		return ref
	}
	properties, required := Document{}, []string{}
	w.fields(t, properties, &required)
	if len(properties) > 0 {
		s["properties"] = properties
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return ref
}

func (w SchemaWriter) scalar(s Document, plain scalar) {
	types := plain.OpenAPISchemaType()
	if len(types) == 0 { // any type
		delete(s, "type")
		return
	}
	s["type"] = types[0]
	if format := plain.OpenAPISchemaFormat(); format != "" {
		s["format"] = format
	}
	several, ok := plain.(alternative)
	if !ok || !w.V3 {
		return
	}
	delete(s, "type")
	var oneOf []Document
	for _, name := range several.OpenAPIV3OneOfTypes() {
		oneOf = append(oneOf, Document{"type": name})
	}
	s["oneOf"] = oneOf
}

func docsOf(t reflect.Type) map[string]string {
	if d, ok := reflect.Zero(t).Interface().(documented); ok {
		return d.SwaggerDoc()
	}
	return nil
}

// fields writes the properties of a struct and of the structs inlined in it. A field is required if
// JSON never omits it; the markers of the types are comments, which are not available at run time.
func (w SchemaWriter) fields(t reflect.Type, properties Document, required *[]string) {
	docs := docsOf(t)
	for i := range t.NumField() {
		f := t.Field(i)
		name, flags, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case name == "" && f.Anonymous:
			w.fields(f.Type, properties, required)
			continue
		}
		property := w.wrapped(w.of(f.Type))
		if text := docs[name]; text != "" {
			property["description"] = text
		}
		if strategy := f.Tag.Get("patchStrategy"); strategy != "" {
			property["x-kubernetes-patch-strategy"] = strategy
		}
		if key := f.Tag.Get("patchMergeKey"); key != "" {
			property["x-kubernetes-patch-merge-key"] = key
		}
		properties[name] = property
		if !strings.Contains(flags, "omit") && name != "status" {
			*required = append(*required, name)
		}
	}
}
