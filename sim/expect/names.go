package expect

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"

	"windtunnel.dev/sim/measure"
)

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// celType returns the CEL type for the native type of a Go field.
func celType(t reflect.Type) *cel.Type {
	if t == reflect.TypeFor[time.Duration]() {
		return cel.DurationType
	}
	switch t.Kind() {
	case reflect.Bool:
		return cel.BoolType
	case reflect.Int, reflect.Int64:
		return cel.IntType
	case reflect.Float64:
		return cel.DoubleType
	case reflect.String:
		return cel.StringType
	case reflect.Slice:
		return cel.ListType(celType(t.Elem()))
	case reflect.Map:
		return cel.MapType(celType(t.Key()), celType(t.Elem()))
	case reflect.Struct:
		return cel.ObjectType(t.String())
	}
	panic("measure.Subject has a field of a kind that CEL lacks: " + t.String())
}

// namesUnder returns the names of the fields of a path like converge.last. For the empty path, it
// returns those of the subject. It returns nil if the path has no fields.
func namesUnder(path string) []string {
	t := reflect.TypeFor[measure.Subject]()
	for step := range strings.SplitSeq(path, ".") {
		if step == "" {
			continue
		}
		t = fieldType(t, step)
		if t == nil {
			return nil
		}
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for _, field := range reflect.VisibleFields(t) {
		if !field.Anonymous {
			names = append(names, jsonName(field))
		}
	}
	slices.Sort(names)
	return names
}

func fieldType(t reflect.Type, name string) reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		if jsonName(field) == name {
			return field.Type
		}
	}
	return nil
}
