package specfile

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Decode decodes a node into a pointer as the YAML library does, but returns an error for a fraction where
// a number must be whole. The library would truncate it.
func Decode(node *yaml.Node, into any) error {
	return withFractions(node.Decode(into), node, into)
}

// withFractions adds the fractions that were truncated to the error of decoding a node into a pointer.
func withFractions(err error, node *yaml.Node, into any) error {
	var several *yaml.TypeError
	if err != nil && !errors.As(err, &several) {
		return err // not a problem with types
	}
	cut := fractions(node, reflect.TypeOf(into).Elem())
	if len(cut) == 0 {
		return err
	}
	if several != nil {
		cut = append(several.Errors, cut...)
	}
	return &yaml.TypeError{Errors: cut}
}

// fractions returns an error for each number in a node that has a fraction, although its type is whole.
// Types that decode themselves call Decode.
func fractions(node *yaml.Node, of reflect.Type) (cut []string) {
	node = Resolve(node)
	if reflect.PointerTo(of).Implements(reflect.TypeFor[yaml.Unmarshaler]()) || of == reflect.TypeFor[time.Duration]() {
		return nil
	}
	switch of.Kind() {
	case reflect.Pointer:
		return fractions(node, of.Elem())
	case reflect.Slice:
		for _, item := range node.Content {
			if node.Kind == yaml.SequenceNode {
				cut = append(cut, fractions(item, of.Elem())...)
			}
		}
	case reflect.Map:
		for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
			cut = append(cut, fractions(node.Content[i], of.Key())...)
			cut = append(cut, fractions(node.Content[i+1], of.Elem())...)
		}
	case reflect.Struct:
		for field := range of.Fields() {
			name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if strings.Contains(options, "inline") {
				cut = append(cut, fractions(node, field.Type)...)
			} else if _, value := child(node, name); value != nil && field.IsExported() {
				cut = append(cut, fractions(value, field.Type)...)
			}
		}
	default:
		isWhole := reflect.Zero(of).CanInt() || reflect.Zero(of).CanUint()
		if isWhole && node.Kind == yaml.ScalarNode && node.ShortTag() == "!!float" && hasFraction(node.Value) {
			return []string{fmt.Sprintf("line %d: cannot unmarshal !!float `%s` into %s", node.Line, node.Value, of.Kind())}
		}
	}
	return cut
}

// hasFraction reports whether a YAML number is not whole. The YAML library refuses those that are not finite.
func hasFraction(text string) bool {
	number, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return err == nil && number != math.Trunc(number)
}
