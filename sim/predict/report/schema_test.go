package report_test

import (
	"testing"

	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/predict"
)

// docs/prediction.schema.json matches the types from which prediction.json is written.
func TestPredictionSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/predict/report", []string{".", "..", "../question", "../simulate", "../costs", "../figure"}, nil)
	schematest.Schema{File: "prediction.schema.json", Title: "Windtunnel prediction"}.CheckResult(t, reflector.Reflect(&predict.Prediction{}), "../../../docs")
}
