package clusters_test

import (
	"testing"

	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/corpus/clusters"
)

// docs/corpus.schema.json matches the types from which index.json is written.
func TestIndexSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/corpus/clusters", []string{"."}, nil)
	schematest.Schema{File: "corpus.schema.json", Title: "Windtunnel corpus"}.CheckResult(t, reflector.Reflect(&clusters.Index{}), "../../../docs")
}
