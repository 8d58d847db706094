package report_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"windtunnel.dev/internal/browsertest"
)

// openAt opens the page at a fragment of its address.
func openAt(t *testing.T, browser context.Context, path, fragment string) *browsertest.Page {
	t.Helper()
	return browsertest.Open(t, browser, fileURL(path)+fragment, browsertest.Light)
}

// span is a range of time that plots show.
type span struct{ From, Until float64 }

func (s span) length() float64 { return s.Until - s.From }

// spanOf returns the range that all plots over time show. It fails the test if they differ.
func spanOf(p *browsertest.Page) span {
	p.Helper()
	all := browsertest.Ask[[]span](p, `[...document.querySelectorAll("figure[data-subject]")].map((f) => ({ From: f.plot.scales.x.min, Until: f.plot.scales.x.max }))`)
	if len(all) < 4 {
		p.Fatalf("only %d plots over time", len(all))
	}
	for _, one := range all {
		if math.Abs(one.From-all[0].From)+math.Abs(one.Until-all[0].Until) > 1e-6 {
			p.Fatalf("the plots show different times: %v", all)
		}
	}
	return all[0]
}

// place returns where a fraction of the width of a subject's plot is in the window.
func place(p *browsertest.Page, plot string, subject int, fraction string) (x, y float64) {
	p.Helper()
	at := browsertest.Ask[struct{ X, Y float64 }](p, fmt.Sprintf(`((f) => {
		f.scrollIntoView({ block: "center", behavior: "instant" });
		const u = f.plot, box = u.over.getBoundingClientRect();
		return { X: box.left + %s, Y: box.top + box.height / 2 };
	})(document.querySelector("figure[data-plot=%s][data-subject='%d']"))`, fraction, plot, subject))
	return at.X, at.Y
}

func mouse(p *browsertest.Page, kind input.DispatchMouseEventType, x, y float64) {
	p.Helper()
	params := input.DispatchMouseEventParams{Type: kind, X: x, Y: y}
	if kind != input.DispatchMouseEventTypeMouseMoved {
		params.Button, params.ClickCount = input.MouseButtonLeft, 1
	}
	browsertest.Call(p, input.DispatchMouseEvent, params)
}

func testDrag(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	const curve = `JSON.stringify(document.querySelector("figure[data-plot=cdf]").plot.scales.x, ["min", "max"])`
	whole, before := spanOf(p), browsertest.Ask[string](p, curve)
	x, y := place(p, "latency", 1, "box.width * 0.25")
	end, _ := place(p, "latency", 1, "box.width * 0.5")
	mouse(p, input.DispatchMouseEventTypeMouseMoved, x, y)
	mouse(p, input.DispatchMouseEventTypeMousePressed, x, y)
	mouse(p, input.DispatchMouseEventTypeMouseMoved, end, y)
	mouse(p, input.DispatchMouseEventTypeMouseReleased, end, y)
	p.Until(`location.hash.startsWith("#t=") && location.hash.endsWith("&subject=reload")`)
	got := spanOf(p)
	if quarter := whole.length() / 4; math.Abs(got.From-quarter) > 0.2 || math.Abs(got.length()-quarter) > 0.2 {
		t.Errorf("the second quarter of %v is %v", whole, got)
	}
	if after := browsertest.Ask[string](p, curve); after != before {
		t.Errorf("the plot of the distribution changes from %s to %s", before, after)
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("figure[data-plot=heat] .u-over").dispatchEvent(new MouseEvent("dblclick", { bubbles: true }))`))
	p.Until(`location.hash === ""`)
	if got := spanOf(p); got != whole {
		t.Errorf("a double click shows %v, want %v", got, whole)
	}
	p.Quiet("file:")
}

// rangeText is what the page says of the range that the plots show.
const rangeText = `document.querySelector(".zoom [role=status]").textContent`

func testZoomKeys(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	whole := spanOf(p)
	p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("figure[data-plot=failures] .plot").focus()`))
	press := func(keys string) span {
		p.Helper()
		p.Do(chromedp.KeyEvent(keys))
		return spanOf(p)
	}
	half := press("+")
	if math.Abs(half.length()-whole.length()/2) > 1e-6 {
		t.Errorf("+ shows %v of %v", half, whole)
	}
	if said := browsertest.Ask[string](p, rangeText); !strings.HasPrefix(said, "Showing 4.00 s to 12.0 s of ") && !strings.HasPrefix(said, "Showing 4 s to 12 s of ") {
		t.Errorf("the page says %q", said)
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", shiftKey: true, bubbles: true }))`))
	if moved := spanOf(p); moved.From <= half.From || math.Abs(moved.length()-half.length()) > 1e-6 {
		t.Errorf("Shift and → moves %v to %v", half, moved)
	}
	// Reading values leads to the end of the run, and the range follows.
	if end := press(kb.End); math.Abs(end.Until-whole.Until) > 0.5 {
		t.Errorf("End shows %v of %v", end, whole)
	}
	if wider := press("-"); wider.length() <= half.length() {
		t.Errorf("- shows %v", wider)
	}
	for _, key := range []string{"0", kb.Escape} {
		press("+")
		if got := press(key); got != whole {
			t.Errorf("%q shows %v, want %v", key, got, whole)
		}
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`document.activeElement.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, ctrlKey: true, clientX: 600, bubbles: true, cancelable: true }))`))
	if got := spanOf(p); math.Abs(got.length()-0.8*whole.length()) > 1e-6 {
		t.Errorf("Ctrl and the wheel show %v of %v", got, whole)
	}
	p.Quiet("file:")
}

func testZoomButtons(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	whole := spanOf(p)
	press := func(button string) span {
		p.Helper()
		p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("[data-zoom=%s]").click()`, button)))
		return spanOf(p)
	}
	in := press("in")
	later := press("later")
	earlier := press("earlier")
	if in.length() >= whole.length() || later.From <= in.From || earlier != in {
		t.Errorf("of %v, in shows %v, later %v, earlier %v", whole, in, later, earlier)
	}
	if out := press("out"); out != whole {
		t.Errorf("out shows %v, want %v", out, whole)
	}
	press("in")
	if all := press("all"); all != whole {
		t.Errorf("the whole run is %v, not %v", whole, all)
	}
	p.Quiet("file:")
}

// The address of the page leads to a range of time; nonsense in it does not matter.
func testAddress(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "#t=2.00-3.50&subject=reload")
	if got := spanOf(p); got != (span{2, 3.5}) {
		t.Errorf("the page shows %v", got)
	}
	if top := browsertest.Ask[float64](p, `document.querySelector("figure[data-subject='1']").getBoundingClientRect().top`); top < 0 || top > 400 {
		t.Errorf("the subject's first plot is at %v", top)
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "#t=5-6"`))
	p.Until(`document.querySelector("figure[data-subject='0']").plot.scales.x.min === 5`)
	for _, nonsense := range []string{"#t=9-", "#t=x-y&subject=%3Cimg%3E", "#moment-9-9", "#%"} {
		p.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`addEventListener("hashchange", () => { window.followed = %[1]q }, { once: true }); location.hash = %[1]q`, nonsense)))
		p.Until(fmt.Sprintf("window.followed === %[1]q && location.hash === %[1]q", nonsense))
		if got := spanOf(p); got != (span{5, 6}) {
			t.Errorf("%s shows %v", nonsense, got)
		}
	}
	if whole := spanOf(openAt(t, browser, run, "#t=9-")); whole.From != 0 || whole.length() < 10 {
		t.Errorf("nonsense shows %v", whole)
	}
	p.Quiet("file:")
}
