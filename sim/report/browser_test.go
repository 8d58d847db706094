package report_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"windtunnel.dev/internal/browsertest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
	"windtunnel.dev/sim/report"
)

func fileURL(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

func TestPageInABrowser(t *testing.T) {
	browser := browsertest.Start(t)
	crash := event.Event{At: 4 * time.Second, Subject: measuretest.Dynamic, Fault: &event.Fault{Name: "worker-kill"}}
	run := write(t, crash)
	t.Run("draws", func(t *testing.T) { testDraws(t, browser, run) })
	t.Run("keyboard", func(t *testing.T) { testKeyboard(t, browser, run) })
	t.Run("axes", func(t *testing.T) { testAxes(t, browser) })
	t.Run("colours", func(t *testing.T) { testColours(t, browser) })
	lossy := writeLossy(t)
	for name, test := range map[string]func(*testing.T, context.Context, string){
		"drag": testDrag, "zoom keys": testZoomKeys, "zoom buttons": testZoomButtons, "address": testAddress,
		"click": testClick, "enter": testEnter, "marks": testMarks, "link": testLink, "narrow": testNarrow, "print": testPrint, "names": testNames, "walk": testWalkBeyondRange, "extremes": testExtremes,
	} {
		t.Run(name, func(t *testing.T) { test(t, browser, lossy) })
	}
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) { testLegible(t, browser, lossy, scheme) })
	}
}

// The page draws every plot, writes nothing to the console and loads nothing from the network. This
// includes a void run and a run in which nothing happened.
func testDraws(t *testing.T, browser context.Context, run string) {
	var empty bytes.Buffer
	nothing := measure.Result{Subjects: []measure.Subject{{Name: "a"}}}
	if err := report.HTML(&empty, nothing, measure.Series{Subjects: []measure.Timeline{{Name: "a"}}}, nil); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		path  string
		plots []string
	}{
		"run":  {run, []string{"cdf", "latency", "heat http", "heat post", "failures", "generations", "latency", "heat http", "heat post", "failures", "generations", "drain"}},
		"void": {write(t, void...), []string{"cdf", "latency", "heat http", "heat post", "failures", "generations", "latency", "failures", "generations"}},
		"none": {save(t, empty.Bytes()), []string{"cdf", "latency", "failures", "generations"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := browsertest.Open(t, browser, fileURL(test.path), "light")
			plots := browsertest.Ask[[]string](p, `[...document.querySelectorAll("figure[data-plot]")].map((f) => [f.dataset.plot, f.dataset.lane].filter(Boolean).join(" "))`)
			if fmt.Sprint(plots) != fmt.Sprint(test.plots) {
				t.Errorf("plots %v, want %v", plots, test.plots)
			}
			if drawn := browsertest.Ask[string](p, `document.documentElement.dataset.drawn`); drawn != strconv.Itoa(len(plots)) {
				t.Errorf("drew %s plots of %d", drawn, len(plots))
			}
			// A heat map may be of a lane whose requests have a chosen length, and so no latency.
			if titles := browsertest.Ask[string](p, `[...document.querySelectorAll("figure[data-plot=heat] .u-title")].map((e) => e.textContent).join()`); strings.Contains(strings.ToLower(titles), "latency") {
				t.Errorf("heat maps are called %s", titles)
			}
			if name == "run" {
				for _, bare := range browsertest.Ask[[]string](p, bareFigures) {
					t.Errorf("the plot %s is empty", bare)
				}
			}
			p.Quiet("file:")
		})
	}
}

// The labels of an axis fit beside it, however much memory nginx needs.
func testAxes(t *testing.T, browser context.Context) {
	result, series, _ := measured(t)
	series.Subjects = slices.Clone(series.Subjects)
	for i := range series.Subjects {
		series.Subjects[i].Bins = slices.Clone(series.Subjects[i].Bins)
		for j := range series.Subjects[i].Bins {
			series.Subjects[i].Bins[j].RSS *= 6000
		}
	}
	var out bytes.Buffer
	if err := report.HTML(&out, result, series, nil); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, browser, fileURL(save(t, out.Bytes())), browsertest.Light)
	labels := browsertest.Ask[[]string](p, `[...document.querySelectorAll("figure[data-plot]")].map((f) => f.plot.axes[1]).flatMap((a) => (a._values || []).filter((v) => {
		const ctx = document.createElement("canvas").getContext("2d");
		ctx.font = "12px system-ui, sans-serif";
		return v && ctx.measureText(v).width > a.size() - a.ticks.size - a.gap;
	}))`)
	if len(labels) > 0 {
		t.Errorf("labels are cut off: %q", labels)
	}
	want := regexp.MustCompile(`^\[0 B( [0-9]+ GiB)+\]$`)
	if memory := browsertest.Ask[[]string](p, `document.querySelector("figure[data-plot=generations]").plot.axes[1]._values`); !want.MatchString(fmt.Sprint(memory)) {
		t.Errorf("the axis of the memory has the labels %q", memory)
	}
	p.Quiet("file:")
}

// Each subject has a colour of its own, in the plots that several subjects share and beside its name.
func testColours(t *testing.T, browser context.Context) {
	const many = 6
	var result measure.Result
	var series measure.Series
	for i := range many {
		name := fmt.Sprint("subject", i)
		result.Subjects = append(result.Subjects, measure.Subject{Name: name, Workers: measure.Workers{Left: []measure.Left{{Generations: 1, Workers: 1, Clients: 1}}}})
		series.Subjects = append(series.Subjects, measure.Timeline{Name: name})
	}
	var out bytes.Buffer
	if err := report.HTML(&out, result, series, nil); err != nil {
		t.Fatal(err)
	}
	p := browsertest.Open(t, browser, fileURL(save(t, out.Bytes())), "light")
	colours := browsertest.Ask[[][]string](p, `(() => {
		const rgb = (color) => { const c = document.createElement("canvas").getContext("2d"); c.fillStyle = color; c.fillRect(0, 0, 1, 1); return String(c.getImageData(0, 0, 1, 1).data); };
		const lines = (plot, line) => document.querySelector("figure[data-plot=" + plot + "]").plot.series.filter((s) => s.label.endsWith(line)).map((s) => rgb(s.stroke()));
		return [lines("cdf", "every worker"), lines("drain", "of clients"), [...document.querySelectorAll("#time .key")].map((k) => rgb(getComputedStyle(k).backgroundColor))];
	})()`)
	for _, each := range colours {
		if distinct := slices.Compact(slices.Sorted(slices.Values(each))); len(distinct) != many || !slices.Equal(each, colours[0]) {
			t.Errorf("%d subjects have the colours %q, and elsewhere %q", many, each, colours[0])
		}
	}
}

// bareFigures finds plots without values, and plots whose canvas has hardly any coloured pixel
// within the axes apart from the grid.
const bareFigures = `[...document.querySelectorAll("figure[data-plot]")].filter((f) => {
	const { left, top, width, height } = f.plot.bbox;
	const pixels = f.plot.ctx.getImageData(left, top, width, height).data;
	let coloured = 0;
	for (let i = 0; i < pixels.length; i += 4) {
		const [r, g, b, a] = pixels.slice(i, i + 4);
		if (a > 0 && Math.max(r, g, b) - Math.min(r, g, b) > 30) coloured++;
	}
	return !(f.dataset.values > 10) || coloured < 300;
}).map((f) => Object.values(f.dataset).join(" "))`

// The keyboard alone reaches everything that scrolls, folds or reads out values, shows the focus,
// and reads a plot.
func testKeyboard(t *testing.T, browser context.Context, run string) {
	p := browsertest.Open(t, browser, fileURL(run), "dark")
	want := browsertest.Ask[[]string](p, `(window.nameOf = (e) => e.getAttribute("aria-label") || e.textContent.trim().slice(0, 40),
		[...document.querySelectorAll("a[href], button, summary, .scroll, .plot")].filter((e) => e.checkVisibility()).map(nameOf))`)
	if len(want) < 20 {
		t.Fatalf("only %q can get the focus", want)
	}
	for i, name := range want {
		p.Do(chromedp.KeyEvent(kb.Tab))
		focus := browsertest.Ask[struct {
			Name, Plot, Before, Style string
			Width                     float64
		}](p, `((e, s) => ({ Name: nameOf(e), Style: s.outlineStyle, Width: parseFloat(s.outlineWidth), Plot: e.closest("figure")?.dataset.plot || "",
			Before: e.querySelector(".u-legend")?.textContent || "" }))(document.activeElement, getComputedStyle(document.activeElement))`)
		if focus.Name != name {
			t.Fatalf("tab %d moves the focus to %q, want %q", i+1, focus.Name, name)
		}
		if focus.Style == "none" || focus.Width < 1 {
			t.Errorf("%q does not show that it has the focus: outline %s %v", name, focus.Style, focus.Width)
		}
		if focus.Plot == "" {
			continue
		}
		p.Do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		if after := browsertest.Ask[string](p, `document.activeElement.querySelector(".u-legend").textContent`); after == focus.Before {
			t.Errorf("the arrow keys read no value from %q: %q", name, after)
		}
	}
	p.Quiet("file:")
}

func testLegible(t *testing.T, browser context.Context, run, scheme string) {
	p := browsertest.Open(t, browser, fileURL(run), scheme)
	if !browsertest.Ask[bool](p, fmt.Sprintf(`matchMedia("(prefers-color-scheme: %s)").matches`, scheme)) {
		t.Fatalf("the page is not in %s mode", scheme)
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll("details")) d.open = true`))
	p.Legible(200)
	p.Quiet("file:")
}
