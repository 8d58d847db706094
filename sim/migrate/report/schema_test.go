package report_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/migrate/report"
)

// docs/migrate.schema.json matches the types from which migrate.json is written.
func TestMigrateSchema(t *testing.T) {
	reflector := jsonschema.Reflector{AllowAdditionalProperties: true, Mapper: func(t reflect.Type) *jsonschema.Schema {
		if t == reflect.TypeFor[time.Duration]() {
			return &jsonschema.Schema{Type: "integer", Format: "nanoseconds"}
		}
		return nil
	}}
	for path, folder := range map[string]string{"windtunnel.dev/sim/migrate/report": ".", "windtunnel.dev/sim/behave/diff": "../../behave/diff", "windtunnel.dev/sim/behave/derive": "../../behave/derive"} {
		if err := reflector.AddGoComments(path, folder, jsonschema.WithFullComment()); err != nil {
			t.Fatal(err)
		}
	}
	schema := reflector.Reflect(&report.Document{})
	schema.ID = "https://windtunnel.dev/migrate.schema.json"
	schema.Title = "Windtunnel migration"
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
	golden.Check(t, "../../../docs/migrate.schema.json", append(text, '\n'))
}
