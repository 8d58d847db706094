package scenario

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/specfile"
)

// Path is where a single value of a scenario is.
type Path struct {
	// Steps lead from the spec to the value: keys of mappings (string) and indices of lists (int, from 0).
	Steps []any
	// Text says that the value is text: any scalar is valid YAML for it.
	Text bool
}

// FindPath parses the path of a value in the spec of a scenario, such as population.services,
// traffic.0.rate or config.worker-shutdown-timeout. The rest of a path after a field with free keys,
// such as config, is one key, dots included. The error of an invalid path suggests valid ones.
func FindPath(path string) (Path, error) {
	found := Path{}
	at := reflect.TypeFor[Spec]()
	rest, above := path, "spec"
	for !isValue(at) {
		if rest == "" {
			return Path{}, fmt.Errorf("%s is not a single value; %s", above, instead(at))
		}
		step, after, _ := strings.Cut(rest, ".")
		switch at.Kind() {
		case reflect.Struct:
			field, ok := fieldNamed(at, step)
			if !ok {
				return Path{}, fmt.Errorf("%s has no field %s; %s", above, step, specfile.Choose(step, "fields", specfile.Fields(at)))
			}
			found.Steps, at = append(found.Steps, step), field.Type
		case reflect.Slice:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 {
				return Path{}, fmt.Errorf("%s is a list, and %s is not the number of an item; they count from 0", above, step)
			}
			found.Steps, at = append(found.Steps, index), at.Elem()
		default: // a map: its keys may contain dots
			step, after = rest, ""
			found.Steps, at = append(found.Steps, step), at.Elem()
		}
		above, rest = strings.TrimPrefix(above+"."+step, "spec."), after
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
	}
	if rest != "" {
		return Path{}, fmt.Errorf("%s is a single value and has no field %s", above, rest)
	}
	found.Text = at.Kind() == reflect.String && !isUnmarshaler(at)
	return found, nil
}

// isValue reports whether a file writes a value of this type as a single value.
func isValue(t reflect.Type) bool {
	if isUnmarshaler(t) || t == reflect.TypeFor[time.Duration]() {
		return true
	}
	return t.Kind() != reflect.Struct && t.Kind() != reflect.Slice && t.Kind() != reflect.Map
}

func isUnmarshaler(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]())
}

func fieldNamed(t reflect.Type, name string) (reflect.StructField, bool) {
	for field := range t.Fields() {
		in, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if in == name && name != "-" && name != "" {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// instead says what to add to a path that ends too early.
func instead(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "add one of its fields: " + strings.Join(specfile.Fields(t), ", ")
	case reflect.Slice:
		return "add the number of an item, from 0"
	}
	return "add one of its keys"
}
