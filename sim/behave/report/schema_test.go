package report

import (
	"reflect"
	"testing"

	"github.com/invopop/jsonschema"

	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/behave"
)

// docs/case-result.schema.json matches the types from which result.json is written.
func TestResultSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/behave/report", []string{".", ".."}, func(of reflect.Type) *jsonschema.Schema {
		switch of {
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
	})
	schematest.Schema{File: "case-result.schema.json", Title: "Windtunnel case result"}.CheckResult(t, reflector.Reflect(&Document{}), "../../../docs")
}
