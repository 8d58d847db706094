package report_test

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/schematest"
	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
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

// fraction returns a sweep of half of the combinations of four factors. A figure depends on the first
// factor, and on the interaction of the second and third.
func fraction(t *testing.T) sweep.Document {
	t.Helper()
	design := sweep.Design{Fraction: &sweep.Fraction{Of: 2}, Rounds: 2, Seed: 1}
	for _, path := range []string{"config.keep-alive", "config.reuse-port", "config.worker-processes", "population.services"} {
		design.Factors = append(design.Factors, sweep.Factor{Path: path, Values: []string{"1", "2"}})
	}
	planned, err := sweep.Plan([]byte(scenarioText), &design, func(text []byte) (*scenario.Scenario, error) {
		return scenario.LoadAs("story.yaml", text, scenario.Known{})
	})
	if err != nil {
		t.Fatal(err)
	}
	d := sweep.Document{Schema: sweep.Schema, Scenario: "story", Driver: "local", Design: design, Figures: []sweep.Figure{{Name: "cpu.nginx", Kind: measure.Time}, {Name: "reloads", Kind: measure.Count}}}
	for _, p := range planned {
		level := func(i int) float64 {
			return float64(slices.Index(design.Factors[i].Values, p.ValueOf(design.Factors[i])))
		}
		for round := range design.Rounds {
			values := map[string]float64{"cpu.nginx": 1 + 2*level(0) + level(1)*level(2) + 0.01*float64(round), "reloads": 3}
			d.Runs = append(d.Runs, sweep.Run{
				Combination: p.Combination, Round: round + 1, Dir: "dir", Outcome: judge.Passed,
				Subjects: []sweep.SubjectValues{{Subject: "bundled", Valid: true, Values: values}},
			})
		}
	}
	d.Evaluate()
	return d
}

const scenarioText = `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  population: {services: 10}
  timeline: [{at: 0s, churn: rolling-update, rate: 1/s, for: 2s}]
`

// The reports of a fraction show which effects it cannot distinguish.
func TestFraction(t *testing.T) {
	for name, write := range map[string]func(io.Writer, sweep.Document) error{"fraction-table.txt": report.Table, "fraction-report.md": report.Markdown} {
		var out bytes.Buffer
		if err := write(&out, fraction(t)); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name, out.Bytes())
	}
	var out bytes.Buffer
	if err := report.HTML(&out, fraction(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<th scope="col">confounded with</th>`, "IV: main effects are clear", "services = keep-alive × reuse-port × worker-processes",
		`"labels":["1","2","1","2","1","2","1","2"],"at":[0,1,3,4,6,7,9,10]`, "Against the values of each factor",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// The drain curves are shown in a table with some of their times, and in a plot per value of the first factor.
func TestDrainCurves(t *testing.T) {
	d := document("story")
	for i := range d.Runs {
		for j := range d.Runs[i].Subjects {
			left := []measure.Left{}
			for second := range 5 * d.Runs[i].Combination.Number {
				left = append(left, measure.Left{After: time.Duration(second) * time.Second, Generations: 2, Workers: 2, Clients: 100 - float64(second)})
			}
			if j == 0 { // everything of the first subject ends
				left = append(left, measure.Left{After: time.Duration(len(left)) * time.Second, Generations: 2})
			}
			d.Runs[i].Subjects[j].Left = left
		}
	}
	d.Evaluate()
	var out bytes.Buffer
	if err := report.Table(&out, d); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/drain.txt", out.Bytes())
	out.Reset()
	if err := report.HTML(&out, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"factor":"time since the reload (services 10)"`, `"ticks":[0,2,4,6,8,10,12,14,16,18,20]`, `"name":"reload, worker-shutdown-timeout=10s"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// If one factor varies at a time, each factor has a plot of drain curves, with a line for each value and for
// that of the scenario, which need not be among the values of the sweep.
func TestDrainCurvesOneAtATime(t *testing.T) {
	services := sweep.Factor{Path: "population.services", Values: []string{"10", "1000"}, Own: "100"}
	timeout := sweep.Factor{Path: "config.worker-shutdown-timeout", Values: []string{"4s", "10s"}, Own: "4s"}
	d := sweep.Document{Schema: sweep.Schema, Scenario: "story", Driver: "local", Design: sweep.Design{OneAtATime: true, Factors: []sweep.Factor{services, timeout}, Rounds: 1, Seed: 1}}
	for i, settings := range [][]sweep.Setting{nil, {{Path: services.Path, Value: "10"}}, {{Path: services.Path, Value: "1000"}}, {{Path: timeout.Path, Value: "10s"}}} {
		d.Runs = append(d.Runs, sweep.Run{
			Combination: sweep.Combination{Number: i + 1, Settings: settings}, Round: 1, Dir: "dir", Outcome: judge.Passed,
			Subjects: []sweep.SubjectValues{{Subject: "bundled", Valid: true, Left: []measure.Left{{Generations: 1, Workers: 2, Clients: float64(i)}, {After: time.Second, Generations: 1}}}},
		})
	}
	d.Evaluate()
	var out bytes.Buffer
	if err := report.HTML(&out, d); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, match := range regexp.MustCompile(`"factor":"time since the reload([^"]*)"|"name":"([a-z-]+=[^"]*)"`).FindAllStringSubmatch(out.String(), -1) {
		got = append(got, match[1]+match[2])
	}
	want := []string{" (services)", "services=100", "services=10", "services=1000", " (worker-shutdown-timeout)", "worker-shutdown-timeout=4s", "worker-shutdown-timeout=10s"}
	if !slices.Equal(got, want) {
		t.Errorf("plots and lines:\n got %q\nwant %q", got, want)
	}
}

func TestPage(t *testing.T) {
	const hostile = `</script><script>alert(1)</script>`
	var out bytes.Buffer
	if err := report.HTML(&out, document(hostile)); err != nil {
		t.Fatal(err)
	}
	webpagetest.Check(t, out.Bytes())
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

// All values of a factor are parsed in the same way: 500m beside 1 is half a processor, not 500 minutes.
func TestNumbersOfAFactor(t *testing.T) {
	for values, want := range map[string]string{
		"500m,1,2":      `"labels":["500m","1","2"],"at":[0.5,1,2]`,
		"1m,30s,0s":     `"labels":["0s","30s","1m"],"at":[0,30,60]`,
		"2/s,60/m":      `"labels":["60/m","2/s"],"at":[1,2]`,
		"1Gi,512Mi":     `"labels":["512Mi","1Gi"],"at":[536870912,1073741824]`,
		"90s,30s,1m30s": `"labels":["30s","90s","1m30s"],"at":[0,1,2]`, // the same time twice
		"2,auto":        `"labels":["2","auto"],"at":[0,1]`,
		"0.5,2.5,4":     `"labels":["0.5","2.5","4"],"at":[0.5,2.5,4]`,
	} {
		factor := sweep.Factor{Path: "subjects.0.resources.cpu", Values: strings.Split(values, ",")}
		d := sweep.Document{Design: sweep.Design{Factors: []sweep.Factor{factor}, Rounds: 1}, Figures: []sweep.Figure{{Name: "reloads", Kind: measure.Count}}}
		for i, value := range factor.Values {
			d.Runs = append(d.Runs, sweep.Run{
				Combination: sweep.Combination{Number: i + 1, Settings: []sweep.Setting{{Path: factor.Path, Value: value}}}, Round: 1,
				Subjects: []sweep.SubjectValues{{Subject: "bundled", Valid: true, Values: map[string]float64{"reloads": float64(i)}}},
			})
		}
		d.Evaluate()
		var page bytes.Buffer
		if err := report.HTML(&page, d); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), want) {
			_, got, _ := strings.Cut(page.String(), `"labels"`)
			t.Errorf("%s: the page lacks %s: %.80s", values, want, got)
		}
	}
}

// Reports can be written for a sweep without runs.
func TestEmpty(t *testing.T) {
	for _, write := range []func(io.Writer, sweep.Document) error{report.Table, report.Markdown, report.HTML, report.JSON} {
		if err := write(io.Discard, sweep.Document{}); err != nil {
			t.Error(err)
		}
	}
}
