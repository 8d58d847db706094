package specfile

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Types are the struct types that a file decodes to. The YAML library names them in its errors.
type Types struct {
	byName map[string]reflect.Type
	kinds  map[string]string
}

// TypesOf returns the types of a document and of everything in it. kinds maps Go names of types to their
// names in messages; without an entry, that is the Go name in lower case.
func TypesOf(document reflect.Type, kinds map[string]string) Types {
	t := Types{byName: map[string]reflect.Type{}, kinds: kinds}
	t.add(document)
	return t
}

func (t Types) add(added reflect.Type) {
	switch added.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		t.add(added.Elem())
	case reflect.Struct:
		if t.byName[added.String()] != nil || reflect.PointerTo(added).Implements(reflect.TypeFor[yaml.Unmarshaler]()) {
			return
		}
		t.byName[added.String()] = added
		for field := range added.Fields() {
			if field.IsExported() && field.Tag.Get("yaml") != "-" {
				t.add(field.Type)
			}
		}
	}
}

// fieldsOf returns the name of a type in messages, and its fields in a file.
func (t Types) fieldsOf(typeName string) (kind string, fields []string) {
	found := t.byName[typeName]
	if found == nil {
		return typeName, nil
	}
	return cmp.Or(t.kinds[found.Name()], strings.ToLower(found.Name())), Fields(found)
}

// below returns the field of a type that has a field of the given name itself, or nothing.
func (t Types) below(typeName, name string) string {
	found := t.byName[typeName]
	if found == nil {
		return ""
	}
	for field := range found.Fields() {
		parent, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if field.Type.Kind() == reflect.Struct && parent != "" && parent != "-" && slices.Contains(Fields(field.Type), name) {
			return parent
		}
	}
	return ""
}

// Fields returns the names that the fields of a struct type have in a file.
func Fields(of reflect.Type) []string {
	var fields []string
	for field := range of.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline"):
			fields = append(fields, Fields(field.Type)...)
		case name != "-" && field.IsExported():
			fields = append(fields, name)
		}
	}
	return fields
}
