package model_test

import (
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"windtunnel.dev/controller/internal/rule"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/golden"
)

// TestRules checks each rule in testdata. A rule is a file with a cluster (cluster.yaml), optional
// options (options.yaml), and the expected findings and model. Package compile tests what the same
// files render to, and has the rules for changes.
func TestRules(t *testing.T) {
	for _, file := range rule.Files(t, "testdata") {
		t.Run(file.Name(), func(t *testing.T) {
			flags, config := file.Options(t, "options.yaml")
			opts, ofOptions := rule.Options(flags, config)
			built, ofModel := model.Build(snapshot.Take(file.Cluster(t)), opts)
			var findings []model.Finding
			for _, problem := range ofOptions {
				findings = append(findings, model.Finding{Object: "ConfigMap", Reason: problem.String()})
			}
			out := file.Input()
			for _, part := range []struct{ name, text string }{
				{"findings", rule.Findings(slices.Concat(findings, ofModel))},
				{"model", rule.Summary(built)},
			} {
				if part.text != "" {
					out.Files = append(out.Files, txtar.File{Name: part.name, Data: []byte(part.text)})
				}
			}
			golden.Check(t, file.Path, txtar.Format(&out))
		})
	}
}
