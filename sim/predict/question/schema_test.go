package question

import (
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/scenario"
)

// TestSchema checks that the JSON Schema for editors matches the Go types of the format. Its
// descriptions are the field comments.
func TestSchema(t *testing.T) {
	reflector := schematest.Format(t, "windtunnel.dev/sim/predict/question", scalarSchema)
	schematest.Schema{File: "question.schema.json", Title: "Windtunnel question"}.CheckFormat(t, reflector.Reflect(&document{}), APIVersion, "../../../docs")
}

// scalarSchema returns the schema of types that a file writes as text.
func scalarSchema(of reflect.Type) *jsonschema.Schema {
	value := &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "boolean"}, {Type: "number"}}}
	switch of {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`}
	case reflect.TypeFor[scenario.Rate]():
		return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]+(\.[0-9]+)?/[smh]$`}
	case reflect.TypeFor[map[string]string]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: value}
	case reflect.TypeFor[map[string][]string]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "array", Items: value}}
	}
	return nil
}
