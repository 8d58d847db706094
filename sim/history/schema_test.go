package history_test

import (
	"testing"

	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/history"
)

// docs/history.schema.json is the schema of entry.json.
func TestSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/history", []string{".", "../../internal/gitrepo"}, nil)
	schematest.Schema{File: "history.schema.json", Title: "A kept run of a Windtunnel history"}.
		CheckResult(t, reflector.Reflect(history.Entry{}), "../../docs")
}
