package adapter

import (
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/schematest"
)

// TestSchema checks that the JSON Schema for editors matches the Go types of the format. Its
// descriptions are the field comments.
func TestSchema(t *testing.T) {
	reflector := schematest.Format(t, "windtunnel.dev/sim/adapter", func(of reflect.Type) *jsonschema.Schema {
		if of == reflect.TypeFor[Pattern]() {
			return &jsonschema.Schema{Type: "string", Format: "regex"}
		}
		return nil
	})
	schema := reflector.Reflect(&document{})
	schematest.Schema{File: "adapter.schema.json", Title: "Windtunnel adapter"}.CheckFormat(t, schema, APIVersion, "../../docs")
}
