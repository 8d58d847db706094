package report_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/behave/diff"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/migrate/report"
)

// request returns a step of the case shop about some settings.
func request(line int, text string, about ...string) behave.Step {
	step := behave.Step{Line: line, About: about}
	step.Request.Request = text
	return step
}

// from records an answer of a pod of a service, or of the controller itself.
func from(service string, status int, location string) behave.Record {
	e := behave.Exchange{Status: status, Header: http.Header{}}
	if location != "" {
		e.Header.Set("Location", location)
	}
	if service != "" {
		e.Received = []behave.Reception{{Service: "auth"}, {Service: service, Answered: true}}
	}
	return behave.Record{Exchanges: []behave.Exchange{e}}
}

func shop() report.Asked {
	c := &behave.Case{Name: "cases/shop", File: "cases/shop.yaml"}
	c.Steps = []behave.Step{
		request(10, "GET https://shop.example/account", "annotation/auth-url"),
		request(20, "GET https://shop.example/", "field/path"),
		request(30, "GET http://shop.example/", "field/tls"),
		request(40, "POST https://shop.example/account", "annotation/auth-url", "annotation/auth-method"),
	}
	c.Steps[0].Headers = map[string]behave.Values{"Cookie": {"id=1"}}
	return report.Asked{
		Case: c,
		Answers: report.Answers([]behave.Record{
			from("", 401, ""), from("web", 200, ""), from("", 308, "https://shop.example/"),
			{Exchanges: slices.Repeat([]behave.Exchange{{Failure: "closed"}}, 2)},
		}),
		Ingresses: []derive.Ingress{
			{Object: "shop/account", Annotations: []string{"auth-method", "auth-url", "proxy-read-timeout"}, Hosts: []string{"shop.example"}},
			{Object: "shop/web", Annotations: []string{"auth-url"}, Hosts: []string{"shop.example"}},
		},
	}
}

func difference(effect diff.Effect, line int, step, cause string, values ...diff.Value) diff.Difference {
	return diff.Difference{Effect: effect, Case: "cases/shop", File: "cases/shop.yaml", Line: line, Step: step, Causes: []string{cause}, Values: values}
}

// document returns a migration to three controllers: one that differs, one that does not, and one
// that could not be run.
func document() report.Document {
	d := report.Document{
		Schema: report.Schema, From: "ingress-nginx", Driver: "local", Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Took: 90 * time.Second,
		NotAsked:    []derive.Omission{{What: "annotation/proxy-read-timeout", Why: "it is about time", Objects: []string{"shop/account"}}, {What: "Deployment", Why: "ignored"}},
		NotRecorded: []diff.NotCompared{{Case: "cases/old", Why: "not within 30s"}},
	}
	unauthorised := []diff.Value{{What: "service", A: "none", B: "web"}, {What: "status", A: "401", B: "200"}}
	d.Compare([]report.Asked{shop(), {Ingresses: []derive.Ingress{{Object: "old/old", Annotations: []string{"app-root"}, Hosts: []string{"old.example"}}}}}, []report.Answered{
		{
			Name: "my-fork",
			Diff: diff.Document{Differences: []diff.Difference{
				difference(diff.Service, 10, "GET https://shop.example/account", "annotation/auth-url", unauthorised...),
				difference(diff.Service, 40, "POST https://shop.example/account", "annotation/auth-url", unauthorised...),
				difference(diff.Redirect, 30, "GET http://shop.example/", "field/tls", diff.Value{What: "header Location", A: `"https://shop.example/"`, B: `"https://shop.example:443/"`}),
			}},
			Answers: map[string][]string{"cases/shop": report.Answers([]behave.Record{
				from("web", 200, ""), from("web", 200, ""), from("", 308, "https://shop.example:443/"),
				{Exchanges: []behave.Exchange{{Status: 200}, {Status: 200}, {Status: 503}}},
			})},
			Unreached: []string{"config/hsts"},
		},
		{Name: "same"},
		{Name: "dead", Diff: diff.Document{NotCompared: []diff.NotCompared{{Case: "cases/shop", Why: "void on B: the controller did not start"}}}},
	})
	d.Costs = &report.Costs{Population: report.Size{Ingresses: 3, Services: 2, Pods: 1}.String(), Runs: []report.CostRun{
		{Change: "endpoints", Summary: "Rolling updates.", Dir: "costs/endpoints", Subjects: []report.Cost{
			{Name: "ingress-nginx", Changes: 40, ConvergeP50: 1200 * time.Millisecond, ConvergeMax: 3 * time.Second, Requests: 2000, PeakMemory: 90 << 20, ControllerCPU: time.Second, ProxyCPU: 2 * time.Second},
			{Name: "my-fork", Changes: 40, Unconverged: 2, ConvergeP50: 9 * time.Millisecond, ConvergeMax: 80 * time.Millisecond, Requests: 1990, Lost: 7, PeakMemory: 190 << 20, ProxyCPU: time.Second, NotApplicable: []measure.NotApplicable{{Measurements: []string{"reloads", "cpu.controller"}, Why: "it is one process"}}, Void: []string{"the generator fell behind"}},
		}},
		{Change: "new-host", Summary: "New hosts.", Dir: "costs/new-host", Trouble: "not measured: no controller", Subjects: []report.Cost{}},
	}}
	return d
}

var formats = map[string]func(io.Writer, report.Document) error{
	"migrate.txt": report.Text, "migrate.json": report.JSON, "migrate.md": report.Markdown, "migrate.html": report.HTML,
}

// Each format shows the document as in its golden file.
func TestFormats(t *testing.T) {
	for name, write := range formats {
		var out bytes.Buffer
		if err := write(&out, document()); err != nil {
			t.Fatal(err)
		}
		text := out.Bytes()
		if name == "migrate.html" {
			webpagetest.Check(t, text)
			// The style sheet is that of all reports.
			head, rest, _ := strings.Cut(out.String(), "<style>")
			_, body, _ := strings.Cut(rest, "</style>")
			text = []byte(head + body)
		}
		golden.Check(t, "testdata/"+name, text)
	}
}

func TestAnnotations(t *testing.T) {
	want := []string{
		"2 ingresses use auth-url: differs in 2 requests",
		"1 ingress uses app-root: not recorded",
		"1 ingress uses auth-method: same",
		"1 ingress uses proxy-read-timeout: it is about time",
	}
	var got []string
	d := document()
	for _, a := range d.Annotations {
		got = append(got, a.Sentence(0))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if text := d.Annotations[0].Sentence(2); text != "2 ingresses use auth-url: not compared" {
		t.Errorf("on a controller that was not tested: %s", text)
	}
}

func TestOutcome(t *testing.T) {
	differs := report.Target{Requests: 1, Differences: []report.Difference{{}}}
	same := report.Target{Requests: 1}
	partly := report.Target{Requests: 1, NotCompared: []diff.NotCompared{{}}}
	costs := func(c report.CostRun) *report.Costs { return &report.Costs{Runs: []report.CostRun{c}} }
	for name, one := range map[string]struct {
		d    report.Document
		want judge.Outcome
	}{
		"all alike":            {report.Document{To: []report.Target{same, same}}, judge.Passed},
		"one differs":          {report.Document{To: []report.Target{partly, differs}}, judge.Failed},
		"one was not compared": {report.Document{To: []report.Target{same, partly}}, judge.Void},
		"one was not recorded": {report.Document{To: []report.Target{same}, NotRecorded: []diff.NotCompared{{}}}, judge.Void},
		"costs are valid":      {report.Document{To: []report.Target{same}, Costs: costs(report.CostRun{Subjects: []report.Cost{{}}})}, judge.Passed},
		"costs are void":       {report.Document{To: []report.Target{same}, Costs: costs(report.CostRun{Subjects: []report.Cost{{Void: []string{"late"}}}})}, judge.Void},
		"costs are missing":    {report.Document{To: []report.Target{same}, Costs: costs(report.CostRun{Trouble: "cut"})}, judge.Void},
		"void, and differs":    {report.Document{To: []report.Target{differs}, Costs: costs(report.CostRun{Trouble: "cut"})}, judge.Failed},
	} {
		if got := one.d.Outcome(); got != one.want {
			t.Errorf("%s: %s, want %s", name, got, one.want)
		}
	}
}

// No format interprets text of a controller or of manifests as its own markup.
func TestFormatsEscapeTexts(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>\n# heading\n| cell |\x1b[2J"
	d := document()
	d.From, d.To[0].Name, d.Annotations[0].Name, d.NotAsked[0].Why, d.NotRecorded[0].Why = evil, evil, evil, evil, evil
	first := &d.To[0].Differences[0]
	first.Step, first.Causes, first.From, first.To, first.Headers, first.Ingresses = evil, []string{evil}, evil, evil, []string{evil}, []string{evil}
	first.Values = []diff.Value{{What: evil, A: evil, B: evil}}
	d.Costs.Runs[0].Trouble, d.Costs.Runs[0].Subjects[0].Name = evil, evil
	for name, write := range formats {
		var out bytes.Buffer
		if err := write(&out, d); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\x1b[2J") && name != "migrate.html" {
			t.Errorf("%s has control characters", name)
		}
		if name == "migrate.html" && strings.Contains(out.String(), "<img") {
			t.Error("the page contains a tag of a text")
		}
		for line := range strings.Lines(out.String()) {
			if name != "migrate.html" && strings.HasPrefix(line, "# ") {
				t.Errorf("in %s, a text is a heading: %q", name, line)
			}
		}
	}
}

// An interrupted migration says so in all formats, first.
func TestInterrupted(t *testing.T) {
	d := document()
	d.Interrupted = true
	if d.Outcome() != judge.Interrupted {
		t.Errorf("outcome %s", d.Outcome())
	}
	for format, want := range map[string]string{
		"text": "compared with ingress-nginx: interrupted; my-fork answers", "markdown": "### Leaving ingress-nginx: interrupted; ",
		"html": "This report covers what was finished.", "json": `"interrupted": true`,
	} {
		var out bytes.Buffer
		write := map[string]func(io.Writer, report.Document) error{"text": report.Text, "markdown": report.Markdown, "html": report.HTML, "json": report.JSON}[format]
		if err := write(&out, d); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, no %q in\n%s", format, err, want, out.String())
		}
	}
}
