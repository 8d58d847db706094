package report

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/behave"
)

// docs/case-result.schema.json matches the types from which result.json is written.
func TestResultSchema(t *testing.T) {
	reflector := jsonschema.Reflector{AllowAdditionalProperties: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		switch t {
		case reflect.TypeFor[time.Duration]():
			return &jsonschema.Schema{Type: "integer", Format: "nanoseconds"}
		case reflect.TypeFor[behave.Outcome]():
			word := &jsonschema.Schema{Type: "string"}
			for _, outcome := range Outcomes {
				word.Enum = append(word.Enum, outcome)
			}
			return word
		case reflect.TypeFor[Counts]():
			return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "integer"}}
		}
		return nil
	}}
	for _, folder := range []string{"report", ""} {
		if err := reflector.AddGoComments("windtunnel.dev/sim/behave/report", "../"+folder, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	schema := reflector.Reflect(&Document{})
	schema.ID = "https://windtunnel.dev/case-result.schema.json"
	schema.Title = "Windtunnel case result"
	for name, definition := range schema.Definitions {
		for field := definition.Properties.Oldest(); field != nil; field = field.Next() {
			if field.Value.Description == "" && definition.Description == "" {
				t.Errorf("%s of %s has no description", field.Key, name)
			}
		}
	}
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../../docs/case-result.schema.json", append(text, '\n'))
}
