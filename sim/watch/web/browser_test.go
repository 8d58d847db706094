package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"windtunnel.dev/internal/browsertest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure/measuretest"
	"windtunnel.dev/sim/watch/web"
)

func TestPageInABrowser(t *testing.T) {
	browser := browsertest.Start(t)
	t.Run("grows", func(t *testing.T) { testGrows(t, browser) })
	t.Run("end", func(t *testing.T) { testEnd(t, browser) })
	t.Run("pause", func(t *testing.T) { testPause(t, browser) })
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) { testLegible(t, browser, scheme) })
	}
}

// The page shows the run so far, and is updated as the run continues.
func testGrows(t *testing.T, browser context.Context) {
	s := show(t)
	s.writeLog(t, measuretest.Reload, "the controller says <b>hello</b>\n")
	p := browsertest.Open(t, browser, s.URL(), "light")
	p.Until(`document.getElementById("stage").textContent === "starting"`)
	events := written()
	half := len(events) / 2
	s.see(events[:half])
	p.Until(`document.getElementById("stage").textContent.startsWith("turn 2 of 4, reload: ")`)
	p.Until(values + ` > 50`)
	before := browsertest.Ask[int](p, values)
	if log := browsertest.Ask[string](p, `document.querySelector("[data-log='1']").textContent`); log != "the controller says <b>hello</b>" {
		t.Errorf("log %q", log)
	}
	p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void (%s.querySelector(".plot").focus())`, failures)), chromedp.KeyEvent(kb.Home))
	const readAt = `((u) => u.data[0][u.cursor.idx] ?? -1)(` + failures + `.plot)`
	p.Until(readAt + ` >= 0`)
	at := browsertest.Ask[float64](p, readAt)
	s.see(events[half:])
	p.Until(fmt.Sprintf(`%s > %d`, values, before+50))
	p.Until(fmt.Sprintf(`%s === %v`, readAt, at)) // a reader keeps the place
	row := browsertest.Ask[string](p, `document.querySelector("[data-row='1']").textContent`)
	p.Do(chromedp.WaitVisible(chromedp.CSS("#failures tbody tr")))
	if browsertest.Ask[int](p, `document.querySelectorAll("#failures tbody tr").length`) == 0 {
		t.Errorf("no failed request is listed, but the table says %q", row)
	}
	go s.Close(web.Result{Outcome: "failed", Note: "requests.failed == 0 is not met", Report: "runs/x/report.html"})
	p.Until(`document.getElementById("result").textContent.includes("The run is over: failed") &&
		document.getElementById("result").textContent.includes("runs/x/report.html")`)
	p.Quiet(s.URL())
}

// values returns the number of values in the second subject's plot of failures, after scrolling to it.
const values = `((f) => (f.scrollIntoView(), Number(f.dataset.values)))(` + failures + `)`

const failures = `document.querySelector("[data-plot=failures][data-subject='1']")`

// The button ends the run, but asks first; the keyboard reaches both.
func testEnd(t *testing.T, browser context.Context) {
	s := show(t)
	p := browsertest.Open(t, browser, s.URL(), "light")
	focus := func(id string) chromedp.Action[chromedp.Void] {
		return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`void document.getElementById(%q).focus()`, id))
	}
	p.Do(focus("end"), chromedp.KeyEvent(kb.Enter))
	p.Until(`document.getElementById("ending").open`)
	p.Do(chromedp.KeyEvent(kb.Escape))
	p.Until(`!document.getElementById("ending").open`)
	if s.ended.Load() != 0 {
		t.Fatal("the run was ended before the question was answered")
	}
	p.Do(focus("end"), chromedp.KeyEvent(kb.Enter), focus("really"), chromedp.KeyEvent(kb.Enter))
	p.Until(`document.getElementById("end").disabled`)
	select {
	case <-s.end:
	case <-t.Context().Done():
		t.Error("the button did not end the run")
	}
	p.Quiet(s.URL())
}

// A paused page does not change, and then shows all updates at once.
func testPause(t *testing.T, browser context.Context) {
	s := show(t)
	p := browsertest.Open(t, browser, s.URL(), "light")
	p.Until(`document.getElementById("stage").textContent === "starting"`)
	p.Do(chromedp.Evaluate[chromedp.Void](`void (document.getElementById("pause").click(), window.received = 0,
		window.changed = 0, new MutationObserver(() => window.changed++).observe(document.body, { childList: true, subtree: true, characterData: true }))`))
	s.see(written())
	s.see([]event.Event{{Phase: &event.Phase{Name: event.Cut}}})
	next := s.updates(t)
	next()
	next() // by now, the page has received an update as well
	if changed := browsertest.Ask[int](p, `window.changed`); changed != 0 {
		t.Errorf("the page changed %d times while it paused", changed)
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`void document.getElementById("pause").click()`))
	p.Until(`document.getElementById("stage").textContent.endsWith("stopping")`)
}

// All text is legible, and a narrow screen does not scroll sideways.
func testLegible(t *testing.T, browser context.Context, scheme string) {
	s := show(t)
	s.writeLog(t, measuretest.Reload, "a line\n")
	s.see(written())
	p := browsertest.Open(t, browser, s.URL(), scheme)
	p.Until(`document.querySelectorAll("#failures tbody tr").length > 0`)
	p.Legible(150)
	browsertest.Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 800, DeviceScaleFactor: 1, Mobile: true})
	p.Until(`innerWidth === 400`)
	if wide := browsertest.Ask[[]string](p, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 401 && !e.closest(".scroll, .unseen, .skip"))
		.map((e) => e.tagName + " " + e.className)`); len(wide) > 0 {
		t.Errorf("wider than the screen: %q", wide)
	}
}
