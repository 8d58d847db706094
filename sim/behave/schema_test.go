package behave

import (
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/schematest"
)

// TestSchema checks that the JSON Schema for editors matches the Go types of the format. Its
// descriptions are the field comments.
func TestSchema(t *testing.T) {
	reflector := schematest.Format(t, "windtunnel.dev/sim/behave", formSchema)
	for name, comment := range reflector.CommentMap {
		for plain, of := range map[string]string{"behave.match.": "behave.Match.", "behave.count.": "behave.Count."} {
			reflector.CommentMap[strings.Replace(name, of, plain, 1)] = comment
		}
	}
	schema := reflector.Reflect(&document{})
	// The schemas of these types are alternatives, of which the reflector writes only the mapping.
	for _, mapping := range []any{&match{}, &count{}, &Cookie{}, &Pods{}, &Certificate{}} {
		for name, definition := range reflector.Reflect(mapping).Definitions {
			schema.Definitions[name] = definition
		}
	}
	for _, definition := range schema.Definitions {
		for property := definition.Properties.Oldest(); property != nil; property = property.Next() {
			numbersToo(property.Value)
		}
	}
	schematest.Schema{File: "case.schema.json", Title: "Windtunnel behaviour case"}.CheckFormat(t, schema, APIVersion, "../../docs")
}

// numbersToo also permits versions without quotes, which YAML reads as numbers.
func numbersToo(property *jsonschema.Schema) {
	for _, choice := range property.Enum {
		if text, ok := choice.(string); ok {
			if number, err := strconv.ParseFloat(text, 64); err == nil {
				property.Type = ""
				property.Enum = append(property.Enum, number)
			}
		}
	}
}

// match and count are the mappings among the forms of Match and Count.
type (
	match Match
	count Count
)

// formSchema returns the schema of types that a file writes in several forms.
func formSchema(t reflect.Type) *jsonschema.Schema {
	null := &jsonschema.Schema{Type: "null"}
	scalar := []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, {Type: "boolean"}}
	whole := &jsonschema.Schema{Type: "integer", Minimum: "0"}
	orNull := func(definition string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{
			OneOf: []*jsonschema.Schema{{Ref: "#/$defs/" + definition}, null},
		}}
	}
	switch t {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case reflect.TypeFor[Match]():
		return &jsonschema.Schema{OneOf: append(scalar, null, &jsonschema.Schema{Ref: "#/$defs/match"})}
	case reflect.TypeFor[Values]():
		list := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{OneOf: scalar}}
		return &jsonschema.Schema{OneOf: append(scalar, null, list)}
	case reflect.TypeFor[Statuses]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{whole, {Type: "array", Items: whole}}}
	case reflect.TypeFor[Count]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{whole, {Ref: "#/$defs/count"}}}
	case reflect.TypeFor[map[string]*Cookie]():
		return orNull("Cookie")
	case reflect.TypeFor[map[string]Pods]():
		return orNull("Pods")
	case reflect.TypeFor[map[string]Certificate]():
		return orNull("Certificate")
	case reflect.TypeFor[map[string]string]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{OneOf: scalar}}
	}
	return nil
}
