package expect

import (
	"reflect"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
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
