package report_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/sweep"
	"windtunnel.dev/sim/sweep/report"
)

// docs/sweep.schema.json matches the types from which the result.json of a sweep is written.
func TestSchema(t *testing.T) {
	reflector := schematest.Result(t, "windtunnel.dev/sim/sweep/report", []string{"..", "../../measure", "../../judge"}, nil)
	schematest.Schema{File: "sweep.schema.json", Title: "Windtunnel sweep"}.CheckResult(t, reflector.Reflect(&sweep.Document{}), "../../../docs")
}

// document returns a sweep of two factors with two rounds and two subjects, one of whose runs is void.
func document(scenario string) sweep.Document {
	factors := []sweep.Factor{{Path: "population.services", Values: []string{"10", "1000"}, Own: "10"}, {Path: "config.worker-shutdown-timeout", Values: []string{"4s", "10s"}}}
	d := sweep.Document{
		Schema: sweep.Schema, Scenario: scenario, Driver: "local", Design: sweep.Design{Factors: factors, Rounds: 2, Seed: 1},
		Figures: []sweep.Figure{{Name: "converge.last.p50", Kind: measure.Time, Doc: "From intent to all workers."}, {Name: "memory.peakRSS", Kind: measure.Bytes}, {Name: "reloads", Kind: measure.Count}},
	}
	number := 0
	for i, a := range factors[0].Values {
		for j, b := range factors[1].Values {
			number++
			for round := range 2 {
				values := map[string]float64{"converge.last.p50": 0.1 + 5*float64(i) + 2*float64(i*j) + 0.01*float64(round), "reloads": float64(3 + round)}
				if i == 0 {
					values["memory.peakRSS"] = 50 << 20
				}
				run := sweep.Run{
					Combination: sweep.Combination{Number: number, Settings: []sweep.Setting{{Path: factors[0].Path, Value: a}, {Path: factors[1].Path, Value: b}}},
					Round:       round + 1, Dir: "dir", Outcome: judge.Passed,
					Subjects: []sweep.SubjectValues{{Subject: "dynamic", Valid: true, Values: values}, {Subject: "reload", Valid: number != 4 || round != 1, Values: values}},
				}
				d.Runs = append(d.Runs, run)
			}
		}
	}
	d.Evaluate()
	return d
}

func TestFormats(t *testing.T) {
	for name, write := range map[string]func(io.Writer, sweep.Document) error{"table.txt": report.Table, "report.md": report.Markdown} {
		var out bytes.Buffer
		if err := write(&out, document("story")); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name, out.Bytes())
	}
}

func TestPage(t *testing.T) {
	const hostile = `</script><script>alert(1)</script>`
	var out bytes.Buffer
	if err := report.HTML(&out, document(hostile)); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	if strings.Contains(page, hostile) {
		t.Error("the page does not escape the name of the scenario")
	}
	for _, want := range []string{
		`data-plot="sweep" data-subject="2"`, `"labels":["10","1000"],"at":[1,3]`, `"name":"reload, worker-shutdown-timeout=10s"`,
		`"log":true`, "Main effects", "Interactions", "on a logarithmic axis",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// A sweep without any run has reports as well.
func TestEmpty(t *testing.T) {
	for _, write := range []func(io.Writer, sweep.Document) error{report.Table, report.Markdown, report.HTML, report.JSON} {
		if err := write(io.Discard, sweep.Document{}); err != nil {
			t.Error(err)
		}
	}
}
