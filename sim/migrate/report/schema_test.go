package report_test

import (
	"testing"

	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/migrate/report"
)

// docs/migrate.schema.json matches the types from which migrate.json is written.
func TestMigrateSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/migrate/report", []string{".", "../../behave/diff", "../../behave/derive", "../../measure"}, nil)
	schematest.Schema{File: "migrate.schema.json", Title: "Windtunnel migration"}.CheckResult(t, reflector.Reflect(&report.Document{}), "../../../docs")
}
