package report_test

import (
	"testing"

	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/regress"
)

// docs/regress.schema.json matches the types from which regress.json is written.
func TestRegressSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/regress/report", []string{"..", "../conf"}, nil)
	schematest.Schema{File: "regress.schema.json", Title: "Windtunnel regression test"}.CheckResult(t, reflector.Reflect(&regress.Report{}), "../../../docs")
}
