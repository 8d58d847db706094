package scenario

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/golden"
)

// TestSchema checks that the JSON Schema for editors matches the Go types of the format. Its
// descriptions are the field comments.
func TestSchema(t *testing.T) {
	reflector := jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		Mapper:                     scalarSchema,
	}
	if err := reflector.AddGoComments("windtunnel.dev/sim/scenario", "."); err != nil {
		t.Fatal(err)
	}
	schema := reflector.Reflect(&document{})
	schema.ID = "https://windtunnel.dev/scenario.schema.json"
	schema.Title = "Windtunnel scenario"
	// Editors check each document of a file against the schema, but all documents after the first
	// are Kubernetes manifests.
	properties := jsonschema.NewProperties()
	properties.Set("apiVersion", &jsonschema.Schema{Const: APIVersion})
	schema.If = &jsonschema.Schema{Properties: properties, Required: []string{"apiVersion"}}
	schema.Then = &jsonschema.Schema{Ref: schema.Ref}
	schema.Ref = ""
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../docs/scenario.schema.json", append(text, '\n'))
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
