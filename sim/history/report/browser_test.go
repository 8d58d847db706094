package report_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"windtunnel.dev/internal/browsertest"
	"windtunnel.dev/sim/history/report"
)

func TestPageInABrowser(t *testing.T) {
	browser := browsertest.Start(t)
	path := save(t, text(t, report.HTML, storm(t, report.Options{Recent: 20, Web: web})))
	t.Run("plots", func(t *testing.T) { testPlots(t, browser, path) })
	t.Run("filters", func(t *testing.T) { testFilters(t, browser, path) })
	t.Run("phone", func(t *testing.T) { testPhone(t, browser, path) })
	for _, scheme := range []string{browsertest.Light, browsertest.Dark} {
		t.Run(scheme, func(t *testing.T) {
			p := browsertest.Open(t, browser, browsertest.File(path), scheme)
			p.Do(chromedp.Click(row("cpu.nginx", " .open")))
			p.Legible(200)
			p.Quiet("file:")
		})
	}
}

// row selects a part of a figure's row.
func row(figure, part string) chromedp.CSS {
	return chromedp.CSS(`tr[data-figure="` + figure + `"]` + part)
}

// A figure opens with the keyboard or from its step, and its plot reads out the commits and links to
// their reports.
func testPlots(t *testing.T, browser context.Context, path string) {
	p := browsertest.Open(t, browser, browsertest.File(path), browsertest.Light)
	if n := browsertest.Ask[int](p, `document.querySelectorAll("figure").length`); n != 0 {
		t.Errorf("%d plots are open", n)
	}
	p.Do(chromedp.Focus(row("cpu.nginx", " .open")), chromedp.KeyEvent(kb.Enter))
	p.Do(chromedp.Click(chromedp.CSS(`a[href="#storm%2fmemory.peakRSS"], a[href="#storm/memory.peakRSS"]`)))
	p.Do(chromedp.WaitVisible(chromedp.CSS(`figure[data-plot="storm/memory.peakRSS"] canvas`)))
	p.NoBarePlot(30)
	const plot = `document.querySelector('figure[data-plot="storm/cpu.nginx"]')`
	if label := browsertest.Ask[string](p, plot+`.querySelector(".plot").getAttribute("aria-label")`); !strings.Contains(label, "WORSE: rose by 39 %") {
		t.Errorf("the plot's label is %q", label)
	}
	p.Do(chromedp.Focus(chromedp.CSS(`figure[data-plot="storm/cpu.nginx"] .plot`)), chromedp.KeyEvent(kb.End))
	readout := browsertest.Ask[string](p, plot+`.querySelector(".readout").innerHTML`)
	for _, want := range []string{"make | &lt;i&gt;it&lt;/i&gt; faster", `href="runs/storm/39/report.html"`, `href="https://ci.example.com/1"`, string(web) + "/commit/"} {
		if !strings.Contains(readout, want) {
			t.Errorf("the readout lacks %q: %s", want, readout)
		}
	}
	p.Do(chromedp.KeyEvent(kb.Home))
	if first := browsertest.Ask[string](p, plot+`.querySelector(".readout").innerHTML`); first == readout || strings.Contains(first, "report") {
		t.Errorf("the first commit, which has no report, reads %s", first)
	}
	p.Do(chromedp.Focus(row("cpu.nginx", " .open")), chromedp.KeyEvent(kb.Enter))
	if browsertest.Ask[bool](p, plot+`.checkVisibility()`) {
		t.Error("the plot stays open")
	}
	p.Quiet("file:")
}

func testFilters(t *testing.T, browser context.Context, path string) {
	p := browsertest.Open(t, browser, browsertest.File(path), browsertest.Light)
	shown := func() string {
		return browsertest.Ask[string](p, `[...document.querySelectorAll("tr[data-figure]")].filter((r) => r.checkVisibility()).map((r) => r.dataset.figure).join(" ")`)
	}
	set := func(script string) {
		browsertest.Ask[bool](p, `(() => { const f = document.querySelector(".filters").elements; `+script+`; document.querySelector(".filters").dispatchEvent(new Event("input")); return true; })()`)
	}
	if all := strings.Fields(shown()); len(all) != 30 {
		t.Errorf("%d figures are shown: %s", len(all), all)
	}
	for _, test := range []struct{ script, want string }{
		{`f.figure.value = "CPU"`, "cpu.controller cpu.nginx"},
		{`f.figure.value = "p50 last"`, "converge.last.p50 certificates.last.p50"},
		{`f.figure.value = ""; f.steps.checked = true`, "reloads cpu.nginx memory.peakRSS"},
		{`f.setup.value = "B"`, "reloads"},
		{`f.subject.value = "dynamic"; f.scenario.value = "storm"`, "reloads"},
		{`f.subject.value = "reload"`, ""},
		{`f.steps.checked = false`, "reloads"},
		{`f.figure.value = "nothing"`, ""},
	} {
		set(test.script)
		if got := shown(); got != test.want {
			t.Errorf("%s: %q, want %q", test.script, got, test.want)
		}
	}
	if status := browsertest.Ask[string](p, `document.querySelector(".filters [role=status]").textContent`); status != "0 of 30 rows" {
		t.Errorf("the status is %q", status)
	}
	p.Quiet("file:")
}

// On a phone, the page is as wide as the screen, even with an open plot.
func testPhone(t *testing.T, browser context.Context, path string) {
	p := browsertest.Open(t, browser, browsertest.File(path), browsertest.Light)
	browsertest.Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 740, DeviceScaleFactor: 2, Mobile: true})
	p.Do(chromedp.Click(row("cpu.nginx", " .open")))
	type widths struct{ Page, Screen, Plot float64 }
	got := browsertest.Ask[widths](p, `({ Page: document.documentElement.scrollWidth, Screen: innerWidth, Plot: document.querySelector("figure").getBoundingClientRect().width })`)
	if got.Page > 360 || got.Screen != 360 || got.Plot > 360 || got.Plot < 250 {
		t.Errorf("widths %+v", got)
	}
	p.Quiet("file:")
}
