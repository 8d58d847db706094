package measure

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"windtunnel.dev/internal/suggest"
)

// NamesUnder returns the names of the fields of a measurement such as converge.last, sorted; those of
// a subject for "". It returns nil if the measurement has no fields, or does not exist.
func NamesUnder(path string) []string {
	t := typeOf(path)
	if t == nil || t.Kind() != reflect.Struct {
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

// CheckName returns an error if there is no measurement with a name such as reloads or converge.way.
// The error lists the valid names.
func CheckName(path string) error {
	if path != "" && typeOf(path) != nil {
		return nil
	}
	above := ""
	for step := range strings.SplitSeq(path, ".") {
		names := NamesUnder(above)
		if !slices.Contains(names, step) {
			return fmt.Errorf("there is no measurement %s%s", path, instead(above, step, names))
		}
		above = strings.TrimPrefix(above+"."+step, ".")
	}
	return nil
}

// instead lists the valid names at the place of a wrong one, below the path above.
func instead(above, wrong string, names []string) string {
	if nearest := suggest.Nearest(wrong, names); nearest != "" {
		return "; did you mean " + strings.TrimPrefix(above+"."+nearest, ".") + "?"
	}
	switch {
	case len(names) == 0:
		return "; " + above + " has no fields"
	case above == "":
		return "; there are " + strings.Join(names, ", ")
	}
	return "; " + above + " has " + strings.Join(names, ", ")
}

// typeOf returns the type of a measurement, nil if it does not exist.
func typeOf(path string) reflect.Type {
	if path == "" {
		return reflect.TypeFor[Subject]()
	}
	return typeIn(reflect.TypeFor[Subject](), path)
}

// typeIn returns the type of a field of t by its path, nil if it does not exist.
func typeIn(t reflect.Type, path string) reflect.Type {
	for step := range strings.SplitSeq(path, ".") {
		if step == "" {
			continue
		}
		if t = fieldType(t, step); t == nil {
			return nil
		}
	}
	return t
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

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
