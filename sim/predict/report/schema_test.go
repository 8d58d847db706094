package report_test

import (
	"bytes"
	"testing"

	"windtunnel.dev/docs"
	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/report"
)

// docs/prediction.schema.json matches the types from which prediction.json is written.
func TestPredictionSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/predict/report", []string{".", "..", "../question", "../simulate", "../costs", "../figure"}, nil)
	schematest.Schema{File: "prediction.schema.json", Title: "Windtunnel prediction"}.CheckResult(t, reflector.Reflect(&predict.Prediction{}), "../../../docs")
}

// prediction.json conforms to its schema.
func TestPredictionConformsToItsSchema(t *testing.T) {
	parameters, err := costs.Parse("parameters.yaml", docs.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	q := question.New()
	for name, value := range map[string]string{"ingresses": "10", "touch": "1/s", "post": "1/s", "for": "10s"} {
		if err := q.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	q.Runs, q.Where = 2, []string{"p99 staleness < 3s"}
	prediction, err := predict.Ask(q, parameters, nil)
	if err != nil {
		t.Fatal(err)
	}
	var document bytes.Buffer
	if err := report.JSON(&document, prediction); err != nil {
		t.Fatal(err)
	}
	schematest.CheckDocument(t, "../../../docs/prediction.schema.json", document.Bytes())
}
