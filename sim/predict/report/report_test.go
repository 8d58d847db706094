package report_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/report"
	"windtunnel.dev/sim/predict/simulate"
)

// prediction returns a prediction with an answer for each value of a sweep, or a single one.
func prediction(swept ...string) *predict.Prediction {
	q := question.New()
	q.Name, q.Summary = "shop", "Is <b>it</b> fresh?"
	q.Changes = []question.Change{{Kind: simulate.RollingUpdate, Rate: 50}}
	q.Traffic = []question.Traffic{{Lane: "http", Rate: 1000}}
	p := &predict.Prediction{Schema: predict.Schema, Question: q, Parameters: predict.Parameters{
		Controller: "bundled", Machine: map[string]string{"nginx": "1.22.1", "processors": "2"}, Runs: 12, HeldOut: 9,
	}}
	values := []map[string]string{{}}
	if len(swept) > 0 {
		values = nil
		for _, value := range swept {
			values = append(values, map[string]string{"sync-rate-limit": value})
		}
	}
	for i, value := range values {
		a := predict.Answer{Values: value, Cluster: simulate.Cluster{Ingresses: 100_000, Services: 100_000, Endpoints: 1_000_000}, Meets: float64(i) / 2}
		a.Settings = simulate.Settings{SyncRate: 0.3, Workers: 64, ShutdownTimeout: 4 * time.Minute}
		for n, f := range figure.Table {
			v := predict.Value{Name: f.Name, Unit: f.Unit, Median: float64(n + 1 - i), Low: float64(n) / 2, High: 3 * float64(n+1)}
			if f.Measured != "" {
				v.Error = &costs.Error{Runs: 9, Median: 0.05, Worst: 0.2, Within: 0.9}
				v.Predictable = true
			}
			if f.Name == "lost" {
				v.Error, v.Predictable = &costs.Error{Runs: 9, Median: 0.5, Worst: 2}, false
			}
			a.Figures = append(a.Figures, v)
		}
		a.Conditions = []predict.Verdict{{Condition: "staleness.p99 < 3s", Figure: "staleness.p99", Bound: 3, Share: float64(i) / 2}}
		a.Beyond = []predict.Beyond{{Quantity: "ingresses", Value: 100_000, Low: 100, High: 2000, Times: 50}}
		a.Staleness = []predict.Point{{Share: 0, Seconds: 0.1}, {Share: 0.5, Seconds: 2}, {Share: 1, Seconds: 5}}
		a.Course = []simulate.Step{{At: 0, Generations: 1, Memory: 100}, {At: time.Minute, Generations: 2, Memory: 300}}
		p.Answers = append(p.Answers, a)
	}
	return p
}

func TestText(t *testing.T) {
	for name, p := range map[string]*predict.Prediction{"answer": prediction(), "sweep": prediction("0.3", "1", "10")} {
		var text bytes.Buffer
		if err := report.Text(&text, p); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, "testdata/"+name+".txt", text.Bytes())
	}
}

func TestHTML(t *testing.T) {
	for name, p := range map[string]*predict.Prediction{"answer": prediction(), "sweep": prediction("0.3", "1", "10")} {
		var page bytes.Buffer
		if err := report.HTML(&page, p); err != nil {
			t.Fatal(err)
		}
		webpagetest.Check(t, page.Bytes())
		if strings.Contains(page.String(), "<b>it</b>") || !strings.Contains(page.String(), "&lt;b&gt;it&lt;/b&gt;") {
			t.Error("text of the question is not escaped")
		}
		if strings.Contains(page.String(), "NaN") || strings.Contains(page.String(), "Inf") {
			t.Error("a plot has no coordinates")
		}
		_, body, _ := strings.Cut(page.String(), "</style>")
		golden.Check(t, "testdata/"+name+".html", []byte(body))
	}
}

// The question of a sweep has all values, not only those of the first answer.
func TestQuestionOfSweep(t *testing.T) {
	p := prediction("0.3", "1")
	p.Answers[1].Settings.SyncRate = 1
	p.Answers[1].Cluster.Ingresses = 200_000
	for i, rate := range []string{"50/s", "70/s"} {
		p.Answers[i].Values = map[string]string{"rolling-update": rate, "for": []string{"10m", "20m"}[i]}
	}
	var page bytes.Buffer
	if err := report.HTML(&page, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<dt>sync-rate-limit</dt><dd>0.3; 1</dd>", "<dt>ingresses</dt><dd>100,000; 200,000</dd>", "<dt>worker-processes</dt><dd>64</dd>",
		"<dt>changes</dt><dd>rolling-update 50/s; rolling-update 70/s</dd>", "<dt>changes for</dt><dd>10m; 20m</dd>",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// A plot of more answers than it can show says so, and no two of its lines look the same.
func TestPlotOfManyAnswers(t *testing.T) {
	var page bytes.Buffer
	if err := report.HTML(&page, prediction("1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14")); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), "Shown are the first 12 of 14 answers."); n != 2 {
		t.Errorf("%d plots say that answers are missing, want 2", n)
	}
	_, plot, _ := strings.Cut(page.String(), "<figure>")
	plot, _, _ = strings.Cut(plot, "</figure>")
	looks := map[string]bool{}
	for _, look := range regexp.MustCompile(`<path class="(line [^"]*)"`).FindAllString(plot, -1) {
		looks[look] = true
	}
	if len(looks) != 12 {
		t.Errorf("12 lines have %d styles", len(looks))
	}
}

// The labels of an axis leave room for each other, and a narrow window scrolls a plot instead of shrinking it.
func TestPlotLabels(t *testing.T) {
	var values []string
	for i := range 40 {
		values = append(values, fmt.Sprint("1h30m", i, "s"))
	}
	var page bytes.Buffer
	if err := report.HTML(&page, prediction(values...)); err != nil {
		t.Fatal(err)
	}
	labels := regexp.MustCompile(`<text x="([0-9.]+)" y="256" dy="16" text-anchor="middle">(1h30m[^<]+)<`).FindAllStringSubmatch(page.String(), -1)
	if len(labels) < 4*5 {
		t.Fatalf("4 plots of a sweep have %d labels: %q", len(labels), labels)
	}
	last := 1e9
	for _, label := range labels {
		at, err := strconv.ParseFloat(label[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if width := 6.5 * float64(len(label[2])); at > last && at-last < width {
			t.Errorf("the label %s is %v from the one before it", label[2], at-last)
		}
		last = at
	}
	if plots, scrolled := strings.Count(page.String(), "<svg"), strings.Count(page.String(), `<div class="scroll" tabindex="0" role="region" aria-label="Plot: `); plots != scrolled {
		t.Errorf("%d of %d plots can scroll", scrolled, plots)
	}
}

// If no change can be watched, the plot of staleness has no line; if no memory is known, its plot is
// missing.
func TestEmptyPlots(t *testing.T) {
	p := prediction()
	p.Answers[0].Staleness, p.Answers[0].Course = nil, nil
	var page bytes.Buffer
	if err := report.HTML(&page, p); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(page.String(), `<path class="line`); n > 0 {
		t.Errorf("empty plots have %d lines", n)
	}
	if plots := regexp.MustCompile(`<svg [^>]*aria-label="([^"]*)"`).FindAllStringSubmatch(page.String(), -1); len(plots) != 1 || plots[0][1] != "Staleness" {
		t.Errorf("the page has the plots %q", plots)
	}
	if strings.Contains(page.String(), "NaN") || strings.Contains(page.String(), "Inf") {
		t.Errorf("a plot has no coordinates:\n%s", page.String())
	}
}

func TestConclusion(t *testing.T) {
	if got, want := report.Conclusion(prediction("0.3", "1", "10")), "All conditions hold in at least 90 % of the simulated runs with: sync-rate-limit=10."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := report.Conclusion(prediction("0.3", "1")), "No value meets all conditions in 90 % of the simulated runs. The best is sync-rate-limit=1, with 50 %."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := report.Conclusion(prediction("0.3")), "No value meets all conditions in any simulated run."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The axes of a figure that is always zero have readable values.
func TestZeroPlots(t *testing.T) {
	p := prediction("0.3", "1")
	for _, a := range p.Answers {
		for i := range a.Figures {
			a.Figures[i].Median, a.Figures[i].Low, a.Figures[i].High = 0, 0, 0
		}
	}
	var page bytes.Buffer
	if err := report.HTML(&page, p); err != nil {
		t.Fatal(err)
	}
	_, reloads, _ := strings.Cut(page.String(), `aria-label="reloads"`)
	reloads, _, _ = strings.Cut(reloads, "</svg>")
	if !strings.Contains(reloads, ">0.2</text>") {
		t.Errorf("the axis has other values than 0 to 1:\n%s", reloads)
	}
}

// The text names quantities beyond the range of the runs: a quantity that is too small, or a limit.
func TestBeyond(t *testing.T) {
	p := prediction()
	p.Answers[0].Beyond = []predict.Beyond{
		{Quantity: "reloads/s", Value: 10, Low: 0.3, High: 4, Times: 2.5},
		{Quantity: "services", Value: 20, Low: 100, High: 2000, Times: 5},
	}
	var out bytes.Buffer
	if err := report.Text(&out, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n  limit of reloads/s: 10 is 2.5 times the largest of the runs, 4\n",
		"\n  services: 20 is below the smallest of the runs, 100, by a factor of 5\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
}

// The remarks say so if requests need more processors than there are.
func TestTooManyRequests(t *testing.T) {
	const remark = "The requests need 250 % of the processors"
	for load, want := range map[float64]bool{0.5: false, 2.5: true} {
		p := prediction("0.3", "1")
		p.Answers[1].Load = load
		if got := strings.Join(report.Remarks(p), "\n"); strings.Contains(got, remark) != want {
			t.Errorf("load %v: the remarks are %s", load, got)
		}
	}
}

// The remarks name a quantity that no run had.
func TestBeyondNothing(t *testing.T) {
	p := prediction()
	p.Answers[0].Beyond = []predict.Beyond{{Quantity: "requests/s", Value: 10}}
	if got := strings.Join(report.Remarks(p), "\n"); !strings.Contains(got, "requests/s: 10, but no run had any") {
		t.Errorf("the remarks are %s", got)
	}
}

// Without held-out runs, no figure appears reliable.
func TestNeverCompared(t *testing.T) {
	p := prediction()
	p.Parameters.HeldOut = 0
	for i := range p.Answers[0].Figures {
		p.Answers[0].Figures[i].Error = nil
	}
	var text bytes.Buffer
	if err := report.Text(&text, p); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "no figure is reliable") {
		t.Errorf("got %s", text.String())
	}
}
