package adapter

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/golden"
)

// TestSchema checks that the JSON Schema for editors matches the Go types of the format. Its
// descriptions are the field comments.
func TestSchema(t *testing.T) {
	reflector := jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		Mapper: func(of reflect.Type) *jsonschema.Schema {
			if of == reflect.TypeFor[Pattern]() {
				return &jsonschema.Schema{Type: "string", Format: "regex"}
			}
			return nil
		},
	}
	if err := reflector.AddGoComments("windtunnel.dev/sim/adapter", "."); err != nil {
		t.Fatal(err)
	}
	schema := reflector.Reflect(&document{})
	schema.ID = "https://windtunnel.dev/adapter.schema.json"
	schema.Title = "Windtunnel adapter"
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
	golden.Check(t, "../../docs/adapter.schema.json", append(text, '\n'))
}
