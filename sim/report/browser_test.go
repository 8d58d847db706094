package report_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
	"windtunnel.dev/sim/report"
)

// patience limits how long a test waits for the browser. It only elapses if a test fails.
const patience = 10 * time.Minute

// startBrowser starts a headless Chromium that ends with the test.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("starting a browser takes seconds; not run with -short")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not in PATH; hack/setup tests installs it")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(1200, 900), chromedp.WSURLReadTimeout(patience))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting chromium: %v", err)
	}
	return ctx
}

// page is an open report.
type page struct {
	*testing.T
	ctx context.Context

	mu      sync.Mutex
	console []string
	fetched []string
}

// open opens a file in a new tab, in light or dark mode, and waits until its plots are drawn.
func open(t *testing.T, browser context.Context, path, scheme string) *page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	p := &page{T: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.see); err != nil {
		t.Fatal(err)
	}
	call(p, network.Enable, network.EnableParams{})
	call(p, log.Enable, cdp.Empty{})
	call(p, runtime.Enable, cdp.Empty{})
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	p.do(
		chromedp.Navigate((&url.URL{Scheme: "file", Path: path}).String()),
		chromedp.WaitReady(chromedp.CSS("html[data-drawn]")),
	)
	return p
}

func (p *page) see(e any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *runtime.EventConsoleAPICalled:
		p.console = append(p.console, fmt.Sprintf("%s: %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, fmt.Sprintf("%+v", *e.ExceptionDetails))
	case *log.EventEntryAdded:
		p.console = append(p.console, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		p.fetched = append(p.fetched, e.Request.URL)
	}
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

func call[P, R any](p *page, command cdp.Command[P, R], params P) {
	p.Helper()
	if _, err := chromedp.Call(p.ctx, command, params); err != nil {
		p.Fatal(err)
	}
}

// ask evaluates a script in the page.
func ask[T any](p *page, script string) T {
	p.Helper()
	answer, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		p.Fatal(err)
	}
	return answer
}

func TestPageInABrowser(t *testing.T) {
	browser := startBrowser(t)
	crash := event.Event{At: 4 * time.Second, Subject: measuretest.Dynamic, Fault: &event.Fault{Name: "worker-kill"}}
	run := write(t, crash)
	t.Run("draws", func(t *testing.T) { testDraws(t, browser, run) })
	t.Run("keyboard", func(t *testing.T) { testKeyboard(t, browser, run) })
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) { testLegible(t, browser, run, scheme) })
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
		"run":  {run, []string{"cdf", "latency", "heat http", "heat post", "failures", "generations", "latency", "heat http", "heat post", "failures", "generations"}},
		"void": {write(t, void...), []string{"cdf", "latency", "heat http", "heat post", "failures", "generations", "latency", "failures", "generations"}},
		"none": {save(t, empty.Bytes()), []string{"cdf", "latency", "failures", "generations"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, browser, test.path, "light")
			plots := ask[[]string](p, `[...document.querySelectorAll("figure[data-plot]")].map((f) => [f.dataset.plot, f.dataset.lane].filter(Boolean).join(" "))`)
			if fmt.Sprint(plots) != fmt.Sprint(test.plots) {
				t.Errorf("plots %v, want %v", plots, test.plots)
			}
			if drawn := ask[string](p, `document.documentElement.dataset.drawn`); drawn != strconv.Itoa(len(plots)) {
				t.Errorf("drew %s plots of %d", drawn, len(plots))
			}
			if name == "run" {
				for _, bare := range ask[[]string](p, bareFigures) {
					t.Errorf("the plot %s is empty", bare)
				}
			}
			p.quiet()
		})
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

func (p *page) quiet() {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.console {
		p.Errorf("the page wrote to the console: %s", line)
	}
	for _, fetched := range p.fetched {
		if !strings.HasPrefix(fetched, "file:") && !strings.HasPrefix(fetched, "data:") {
			p.Errorf("the page requests %s", fetched)
		}
	}
	if len(p.fetched) == 0 {
		p.Error("saw no request, not even for the page")
	}
}

// The keyboard alone reaches everything that scrolls, folds or reads out values, shows the focus,
// and reads a plot.
func testKeyboard(t *testing.T, browser context.Context, run string) {
	p := open(t, browser, run, "dark")
	want := ask[[]string](p, `(window.nameOf = (e) => e.getAttribute("aria-label") || e.textContent.trim().slice(0, 40),
		[...document.querySelectorAll("a[href], summary, .scroll, .plot")].map(nameOf))`)
	if len(want) < 20 {
		t.Fatalf("only %q can get the focus", want)
	}
	for i, name := range want {
		p.do(chromedp.KeyEvent(kb.Tab))
		focus := ask[struct {
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
		p.do(chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight))
		if after := ask[string](p, `document.activeElement.querySelector(".u-legend").textContent`); after == focus.Before {
			t.Errorf("the arrow keys read no value from %q: %q", name, after)
		}
	}
	p.quiet()
}

// Every text has the contrast of 4.5 to 1 that WCAG 2.1 requires (1.4.3), including the painted
// axes and labels of the plots.
func testLegible(t *testing.T, browser context.Context, run, scheme string) {
	p := open(t, browser, run, scheme)
	if !ask[bool](p, fmt.Sprintf(`matchMedia("(prefers-color-scheme: %s)").matches`, scheme)) {
		t.Fatalf("the page is not in %s mode", scheme)
	}
	texts := ask[[]struct {
		Text  string
		Ratio float64
	}](p, contrasts)
	if len(texts) < 200 {
		t.Errorf("checked only %d texts", len(texts))
	}
	for _, text := range texts {
		if text.Ratio < 4.5 {
			t.Errorf("contrast %.2f of %q", text.Ratio, text.Text)
		}
	}
	p.quiet()
}

// contrasts computes the contrast between each text and its background
// (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio).
const contrasts = `(() => {
	const rgba = (color) => {
		const c = document.createElement("canvas").getContext("2d");
		c.fillStyle = color;
		c.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = c.getImageData(0, 0, 1, 1).data;
		return [r, g, b, a / 255];
	};
	const over = (top, below) => top.map((v, i) => i === 3 ? 1 : v * top[3] + below[i] * (1 - top[3]));
	const luminance = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const ratio = (text, ground) => {
		const [a, b] = [luminance(over(text, ground)), luminance(ground)];
		return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
	};
	const behind = (e) => {
		if (!e) return [255, 255, 255, 1];
		const own = rgba(getComputedStyle(e).backgroundColor);
		return own[3] === 1 ? own : over(own, behind(e.parentElement));
	};
	const found = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const text = walker.currentNode.textContent.trim(), e = walker.currentNode.parentElement;
		if (!text || ["SCRIPT", "STYLE", "NOSCRIPT"].includes(e.tagName)) continue;
		found.push({ Text: text.slice(0, 60), Ratio: ratio(rgba(getComputedStyle(e).color), behind(e)) });
	}
	const css = (name) => rgba(getComputedStyle(document.documentElement).getPropertyValue(name));
	for (const plot of document.querySelectorAll(".plot")) {
		found.push({ Text: "axes of " + plot.getAttribute("aria-label"), Ratio: ratio(css("--soft"), behind(plot)) });
		found.push({ Text: "faults of " + plot.getAttribute("aria-label"), Ratio: ratio(css("--text"), over(css("--fault"), behind(plot))) });
	}
	return found;
})()`
