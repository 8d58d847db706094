package behave

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/specfile"
)

// nulls restores the meaning of null, which the decoder drops: a condition on a text becomes
// Absent. Where null has no meaning, it is reported as a problem, because otherwise nothing would
// be checked. So is a merge key, because its fields have no positions of their own.
type nulls struct{ problems *specfile.Problems }

// walk visits a value together with the node that it was decoded from.
func (n nulls) walk(value reflect.Value, node *yaml.Node) {
	node = specfile.Resolve(node)
	if _, own := value.Addr().Interface().(yaml.Unmarshaler); own {
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			n.walk(value.Elem(), node)
		}
	case reflect.Slice:
		for i := 0; node.Kind == yaml.SequenceNode && i < min(value.Len(), len(node.Content)); i++ {
			n.walk(value.Index(i), node.Content[i])
		}
	case reflect.Struct, reflect.Map:
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			key, below := node.Content[i], node.Content[i+1]
			switch {
			case key.ShortTag() == "!!merge":
				n.problems.Add(key.Line, "a merge key", "write its fields out")
			case value.Kind() == reflect.Struct:
				n.field(value, key, below)
			default:
				n.entry(value, key, below)
			}
		}
	}
}

func (n nulls) field(value reflect.Value, key, below *yaml.Node) {
	field := fieldNamed(value, key.Value)
	switch {
	case !field.IsValid(): // an unknown field, which the decoder has reported
	case !isNull(below):
		n.walk(field, below)
	case field.Type() == reflect.TypeFor[*Match]():
		field.Set(reflect.ValueOf(&Match{Absent: true}))
	default:
		n.empty(key)
	}
}

func (n nulls) entry(value reflect.Value, key, below *yaml.Node) {
	name := reflect.ValueOf(key.Value)
	if value.Type().Key().Kind() == reflect.Int {
		number, err := strconv.Atoi(key.Value)
		if err != nil {
			return // the decoder has reported it
		}
		name = reflect.ValueOf(number)
	}
	entry := reflect.New(value.Type().Elem()).Elem()
	if before := value.MapIndex(name); before.IsValid() {
		entry.Set(before)
	}
	switch {
	case !isNull(below):
		if !value.IsNil() && value.MapIndex(name).IsValid() {
			n.walk(entry, below)
			value.SetMapIndex(name, entry)
		}
	case entry.Type() == reflect.TypeFor[Match]():
		value.SetMapIndex(name, reflect.ValueOf(Match{Absent: true}))
	case entry.Type() == reflect.TypeFor[*Cookie](), entry.Type() == reflect.TypeFor[Values](),
		entry.Type() == reflect.TypeFor[Pods](), entry.Type() == reflect.TypeFor[Certificate]():
	default:
		n.empty(key)
	}
}

func (n nulls) empty(key *yaml.Node) {
	n.problems.Add(key.Line, key.Value+": has no value", "fill it in, or remove it")
}

func isNull(node *yaml.Node) bool { return specfile.Resolve(node).ShortTag() == "!!null" }

// fieldNamed returns the field that has a name in files, also one of an inlined struct.
func fieldNamed(value reflect.Value, name string) reflect.Value {
	for field, inner := range value.Fields() {
		own, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if strings.Contains(options, "inline") {
			if found := fieldNamed(inner, name); found.IsValid() {
				return found
			}
		} else if own == name && own != "-" {
			return inner
		}
	}
	return reflect.Value{}
}
