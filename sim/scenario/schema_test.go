package scenario

import (
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/schematest"
)

// TestSchema checks that the JSON Schema for editors matches the Go types of the format. Its
// descriptions are the field comments.
func TestSchema(t *testing.T) {
	reflector := schematest.Format(t, "windtunnel.dev/sim/scenario", scalarSchema)
	schema := reflector.Reflect(&document{})
	schematest.Schema{File: "scenario.schema.json", Title: "Windtunnel scenario"}.CheckFormat(t, schema, APIVersion, "../../docs")
}

// scalarSchema returns the schema of types that a file writes as text.
func scalarSchema(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case reflect.TypeFor[Rate]():
		return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]+(\.[0-9]+)?/[smh]$`}
	case reflect.TypeFor[Quantity]():
		return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string", Pattern: `^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`}, {Type: "number"}}}
	case reflect.TypeFor[Expectation]():
		return &jsonschema.Schema{Type: "string"}
	case reflect.TypeFor[map[string]string]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{
			OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "boolean"}, {Type: "number"}},
		}}
	}
	return nil
}
