package report_test

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/conf"
	"windtunnel.dev/sim/regress/report"
	"windtunnel.dev/sim/regress/speed"
)

const manifests = "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: a\n"

// differing returns a report with everything that a report can have.
func differing() *regress.Report {
	return &regress.Report{
		Schema: regress.Schema, Outcome: regress.Differs, Base: "bundled", Head: "template=<b>.tmpl", Parts: regress.Parts,
		Clusters: regress.Clusters{All: 10, Identical: 5, Same: 2, Differing: 2, Failed: 1},
		Kinds: []regress.Kind{
			{
				Change: conf.Gained, Directive: "proxy_buffering off", Place: "http/server/location", Blocks: 412, Of: 5000, Clusters: 2,
				Cause:   &regress.Cause{Side: regress.SideHead, Site: regress.Site{File: "nginx.tmpl", Line: 1034}, Text: "proxy_buffering off; `"},
				Written: regress.Written{Head: &regress.Site{File: "nginx.tmpl", Line: 1034}},
				Needs:   []string{"annotation proxy-buffering"}, Objects: []string{"Ingress shop/a", "Ingress shop/b"}, MoreObjects: 410,
				Example: regress.Example{Cluster: "small", Path: []string{"http", "server a.example", "location /"}, HeadLine: 300, Head: "proxy_buffering off"},
				Minimal: &regress.Minimal{Objects: []string{"Ingress default/a"}, Manifests: manifests},
			},
			{
				Change: conf.Changed, Directive: "worker_processes 2", Was: "worker_processes 1", Blocks: 1, Of: 1, Clusters: 1,
				Written: regress.Written{Head: &regress.Site{File: "nginx.tmpl", Line: 3}},
				Example: regress.Example{Cluster: "<script>", BaseLine: 4, HeadLine: 5},
				Minimal: &regress.Minimal{}, Expected: &regress.Expectation{Change: conf.Changed, Directive: "worker_processes", Reason: "two <cores>", Until: "2027-01-31"},
			},
			{
				Change: conf.Lost, Directive: "deny …", Place: "http/server", Blocks: 1, Of: 20, Clusters: 1,
				Cause:   &regress.Cause{Side: regress.SideBase, Site: regress.Site{File: "nginx.tmpl", Line: 7}, Text: "deny {{ . }};"},
				Example: regress.Example{Cluster: "small", BaseLine: 4, Base: "deny 192.0.2.1"},
			},
		},
		Failures: []regress.Failure{
			{
				Stage: regress.StageTest, Sides: regress.SideHead, Reason: "[emerg] invalid value <x>", Clusters: 1, Cluster: "small", Object: "Ingress shop/a", Line: 9, Text: "satisfy <x>;",
				Cause: &regress.Cause{Side: regress.SideHead, Site: regress.Site{File: "nginx.tmpl", Line: 9}, Text: "satisfy {{ . }};"}, Needs: []string{"annotation satisfy"},
				Minimal: &regress.Minimal{Objects: []string{"Ingress default/a"}, Manifests: manifests},
			},
			{Stage: regress.StageRender, Sides: regress.SidesBoth, Reason: "nginx.tmpl:3: no field", Clusters: 2, Cluster: "other", Written: &regress.Site{File: "nginx.tmpl", Line: 3}},
		},
		Behaviour: &regress.Behaviour{
			Cases: 20, LeftOut: 700, Unstable: 1, UnstableCases: []string{"canary/weight"}, BothFail: []string{"routing/hosts"}, NotCompared: []string{"tls/<x>: void on A: no answer"},
			Answers: []regress.Answer{{
				Effect: "other headers", Steps: 2, Case: "cors/origin", Place: "cases/cors/origin.yaml:12", Request: "GET http://a.example/<x>", Cases: []string{"cors/origin", "cors/wildcard"},
				Causes: []string{"annotation/enable-cors"}, Values: []regress.Value{{What: "header X-A", Base: "one", Head: "<none>"}},
			}},
		},
		Cost: &regress.Cost{
			Result: &speed.Result{
				Cluster: "large", Rounds: 3, Needed: 14, Targets: []speed.Target{{Kind: "plain", URL: "http://a.example/<x>", Status: 200}}, NotAsked: []string{"auth: none of 20 ingresses has an answer of a pod"},
				Figures: []speed.Figure{
					{Name: "render-cpu", Unit: "s", Base: []float64{0.1, 0.2, 0.11}, Head: []float64{0.3, 0.29, 0.31}, BaseMedian: &speed.Median{Value: 0.11, Interval: &[2]float64{0.1, 0.2}}, HeadMedian: &speed.Median{Value: 0.3}, Change: 1.73, P: 0.004, Budget: 0.1, Verdict: speed.More},
					{Name: "worker-memory", Unit: "B", Base: []float64{3 << 20}, Head: []float64{2 << 20}, BaseMedian: &speed.Median{Value: 3 << 20}, HeadMedian: &speed.Median{Value: 2 << 20}, Change: -0.33, P: 0.01, Budget: 0.1, Verdict: speed.Less},
					{Name: "last-worker", Unit: "s", Verdict: speed.Unknown, Why: "the Lua code <x> does not report", Invisible: true},
					{Name: "request-cpu-plain", Unit: "s", Base: []float64{1e-5}, Head: []float64{1e-5}, BaseMedian: &speed.Median{Value: 1e-5}, HeadMedian: &speed.Median{Value: 1e-5}, P: 1, Budget: 0.1, Verdict: speed.Same},
				},
			},
			Expected: map[string]*regress.Expectation{"worker-memory": {Change: regress.CostChange, Directive: "worker-memory", Reason: "a smaller <dictionary>", Until: "2027-01-31"}},
		},
		Untested: []string{"big: bind() to 0.0.0.0:80 failed"},
		Notes:    []string{report.LuaNote([]string{"a.lua", "b.lua", "c.lua", "d.lua", "e.lua", "f.lua"})},
	}
}

func TestReports(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *regress.Report) error{"text": report.Text, "md": report.Markdown, "html": report.HTML} {
		r := differing()
		files := report.Files(r)
		if len(files) != 2 || files["001-gain-proxy-buffering.yaml"] != manifests || files["001-failure-nginx-t.yaml"] != manifests {
			t.Fatalf("files %q", files)
		}
		var out bytes.Buffer
		if err := write(&out, r); err != nil {
			t.Fatal(err)
		}
		text := out.Bytes()
		if name == "html" {
			webpagetest.Check(t, text)
			// The style sheet is that of all reports.
			head, rest, _ := strings.Cut(out.String(), "<style>")
			_, body, _ := strings.Cut(rest, "</style>")
			text = []byte(head + body)
		}
		if name != "text" && strings.Contains(out.String(), "<script>") {
			t.Errorf("%s: a name of a cluster is not escaped", name)
		}
		if !strings.Contains(out.String(), "annotation/enable-cors") {
			t.Errorf("%s does not say what an answer is about", name)
		}
		golden.Check(t, filepath.Join("testdata", "differing."+name), text)
	}
}

// A headline claims only what the parts that ran have shown.
func TestHeadlines(t *testing.T) {
	answered, unable := &regress.Behaviour{}, &regress.Behaviour{Unable: "no cases"}
	for want, r := range map[string]regress.Report{
		"Both sides behave alike.\n":                                                                  {Outcome: regress.Same, Parts: regress.DefaultParts, Behaviour: answered},
		"Both sides render the same. No behaviour case was run.\n":                                    {Outcome: regress.Same, Parts: regress.DefaultParts, Behaviour: unable},
		"Both sides render the same. Their behaviour was not compared.\n":                             {Outcome: regress.Same, Parts: regress.Parts[:2]},
		"nginx -t accepts the same configurations of both sides. Their behaviour was not compared.\n": {Outcome: regress.Same, Parts: regress.Parts[1:2]},
		"Both sides cost the same.\n":                                                                 {Outcome: regress.Same, Parts: []regress.Part{regress.SpeedPart}},
		"  no case was run: on head, the controller did not start: no file\n": {
			Outcome: regress.Differs, Behaviour: &regress.Behaviour{NotServing: &regress.NotServing{Sides: regress.SideHead, Reason: "the controller did not start: no file"}},
		},
		"The sides differ: the controller of base serves nothing.\n": {
			Outcome: regress.Differs, Behaviour: &regress.Behaviour{NotServing: &regress.NotServing{Sides: regress.SideBase}},
		},
		"The sides differ: 1 kind of difference.\n": { // if neither starts, that is no difference
			Outcome: regress.Differs, Kinds: []regress.Kind{{}}, Behaviour: &regress.Behaviour{NotServing: &regress.NotServing{Sides: regress.SidesBoth}},
		},
		"Void: some tests could not be run": {Outcome: regress.Void},
	} {
		var out bytes.Buffer
		r.Clusters = regress.Clusters{All: 1, Identical: 1}
		if err := report.Text(&out, &r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "1 cluster: 1 byte-equal") {
			t.Errorf("want %q: %s", want, out.String())
		}
	}
}

// No format interprets texts of manifests and templates as its own markup.
func TestFormatsEscapeTexts(t *testing.T) {
	const evil = "<img src=x>\x1b[2J"
	r := &regress.Report{
		Outcome: regress.Differs, Base: evil, Head: evil,
		Kinds:    []regress.Kind{{Change: conf.Gained, Directive: "set " + evil, Place: "http", Blocks: 1, Of: 2, Needs: []string{"config.log-format=" + evil}, Objects: []string{evil}}},
		Failures: []regress.Failure{{Stage: regress.StageTest, Sides: regress.SideHead, Reason: evil, Needs: []string{"config.log-format=" + evil}, Clusters: 1}},
	}
	for name, write := range map[string]func(io.Writer, *regress.Report) error{"text": report.Text, "markdown": report.Markdown, "html": report.HTML} {
		var out strings.Builder
		if err := write(&out, r); err != nil {
			t.Fatal(err)
		}
		text := regexp.MustCompile("`[^`]*`").ReplaceAllString(out.String(), "")
		if name == "html" && strings.Contains(text, "<img") || name == "markdown" && strings.Contains(text, "<img") {
			t.Errorf("%s has a tag of a text:\n%s", name, text)
		}
		if name != "html" && strings.Contains(text, "\x1b") {
			t.Errorf("%s has control characters: %q", name, text)
		}
	}
}
