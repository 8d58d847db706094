package report_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"windtunnel.dev/internal/browsertest"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// Reading values with the arrow keys skips none where the range of time follows.
func testWalkBeyondRange(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("figure[data-plot=latency] .plot").focus()`))
	p.Do(chromedp.KeyEvent("++++"), chromedp.KeyEvent(kb.Home))
	begin := spanOf(p)
	for want := 1; want <= 15; want++ {
		p.Do(chromedp.KeyEvent(kb.ArrowRight))
		if got := browsertest.Ask[int](p, `document.querySelector("figure[data-plot=latency]").plot.cursor.idx`); got != want {
			t.Fatalf("key %d reads value %d", want, got)
		}
	}
	if end := spanOf(p); end.From <= begin.From {
		t.Errorf("the range stays at %v", end)
	}
}

// A plot is readable with one point, and with many failures.
func testExtremes(t *testing.T, browser context.Context, _ string) {
	result := measure.Result{Subjects: []measure.Subject{{Name: "a", Workers: measure.Workers{Left: []measure.Left{{Generations: 1, Workers: 1, Pods: 5}}}}}}
	series := measure.Series{Subjects: []measure.Timeline{{
		Name: "a", Rounds: []measure.Round{{End: time.Minute}}, Width: time.Second,
		Bins: []measure.Bin{{Requests: 9e5, Failures: map[string]int{"refused": 9e5}}, {At: time.Second}},
	}}}
	var page bytes.Buffer
	if err := report.HTML(&page, result, series, nil); err != nil {
		t.Fatal(err)
	}
	p := openAt(t, browser, save(t, page.Bytes()), "")
	if labels := browsertest.Ask[[]string](p, `document.querySelector("figure[data-plot=failures]").plot.axes[1]._values || []`); len(labels) < 2 {
		t.Errorf("the axis of failures has the labels %q", labels)
	}
	if points := browsertest.Ask[int](p, `((u) => { const i = u.series.findIndex((s) => s.label === "to pods"), { show, filter } = u.series[i].points;
		return show(u, i) === false ? 0 : (filter(u, i, true) || u.data[i]).length; })(document.querySelector("figure[data-plot=drain]").plot)`); points != 1 {
		t.Errorf("the only sample of connections to pods is drawn as %d points", points)
	}
	p.Quiet("file:")
}
