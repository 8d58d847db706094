package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"windtunnel.dev/internal/browsertest"
	"windtunnel.dev/sim/report"
)

const evilLog = `I1102 reload </pre><img src=x onerror=alert(1)> ` + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// writeLossy writes the page of a run with moments in which requests failed, and returns its path.
func writeLossy(t *testing.T) string {
	t.Helper()
	result, series, checks := measured(t)
	series.Subjects = slices.Clone(series.Subjects)
	moments := slices.Clone(series.Subjects[1].Moments)
	if len(moments) < 3 {
		t.Fatalf("only %d moments", len(moments))
	}
	for i := range moments {
		moments[i].Log = []string{"I1102 a change", evilLog}
	}
	series.Subjects[1].Moments = moments
	var out bytes.Buffer
	if err := report.HTML(&out, result, series, checks); err != nil {
		t.Fatal(err)
	}
	return save(t, out.Bytes())
}

// opened checks that a moment of the second subject is open, in view, and in the plots.
func opened(p *browsertest.Page, number int) {
	p.Helper()
	id := fmt.Sprintf("moment-2-%d", number)
	p.Until(fmt.Sprintf(`document.getElementById(%q).open`, id))
	p.Until(fmt.Sprintf(`location.hash === %q`, "#"+id))
	p.Until(`document.querySelector("figure[data-plot=failures][data-subject='1']").getBoundingClientRect().top >= 0`)
	state := browsertest.Ask[struct {
		Text          string
		Top, FigureAt float64
		Focused       bool
		At            float64
	}](p, fmt.Sprintf(`((d, f) => ({ Text: d.textContent, Top: d.getBoundingClientRect().top, FigureAt: f.getBoundingClientRect().top, Focused: d.contains(document.activeElement),
		At: parseFloat(/ at ([\d.]+) s/.exec(d.querySelector("summary").textContent)[1]) }))(document.getElementById(%q), document.querySelector("figure[data-plot=failures][data-subject='1']"))`, id))
	for _, want := range []string{"of lane ", "GET svc.example.com", "reset", "change ", "rolling-update of EndpointSlice", "reload: ", evilLog} {
		if !strings.Contains(state.Text, want) {
			p.Errorf("the details lack %q: %s", want, state.Text)
		}
	}
	if state.FigureAt < 0 || state.Top > 900 || !state.Focused {
		p.Errorf("the plot is at %v, the details at %v, with the focus: %v", state.FigureAt, state.Top, state.Focused)
	}
	if shown := spanOf(p); shown.From > state.At || shown.Until < state.At || shown.length() > 6 {
		p.Errorf("the plots show %v, but the requests failed at %v", shown, state.At)
	}
}

// The first screen links to a moment; so does the address of the page.
func testLink(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	if bottom := browsertest.Ask[float64](p, `document.querySelector("#answers a").getBoundingClientRect().bottom`); bottom > 900 {
		t.Errorf("the first link to a failure is at %v", bottom)
	}
	link := browsertest.Ask[string](p, `(document.querySelector("#answers a").focus(), document.activeElement.hash)`)
	p.Do(chromedp.KeyEvent(kb.Enter))
	if link != "#moment-2-1" {
		t.Fatalf("the first link is %q", link)
	}
	opened(p, 1)
	opened(openAt(t, browser, run, "#moment-2-2"), 2)
	p.Quiet("file:")
}

// markOf is the place of a moment's mark in the plot, in pixels.
const markOf = `u.valToPos(JSON.parse(document.getElementById("series").textContent).subjects[1].moments.map((m) => {
	const subject = JSON.parse(document.getElementById("series").textContent).subjects[1];
	const before = subject.rounds.filter((r) => r.end < m.from).reduce((sum, r) => sum + r.end - r.begin, 0);
	return (before + m.from - subject.rounds.find((r) => r.end >= m.from).begin) / 1e9;
})[1], "x")`

func testClick(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	x, y := place(p, "failures", 1, markOf)
	mouse(p, input.DispatchMouseEventTypeMouseMoved, x, y)
	mouse(p, input.DispatchMouseEventTypeMousePressed, x, y)
	mouse(p, input.DispatchMouseEventTypeMouseReleased, x, y)
	opened(p, 2)
	if n := browsertest.Ask[int](p, `document.querySelectorAll("img").length`); n > 0 {
		t.Error("a line of the log is an element of the page")
	}
	p.Quiet("file:")
}

// The keyboard alone leads from the plot to the details.
func testEnter(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	p.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("figure[data-plot=failures][data-subject='1'] .plot").focus()`))
	for range 200 {
		p.Do(chromedp.KeyEvent(kb.ArrowRight))
		if browsertest.Ask[bool](p, `/(reset|idle-close)\s*[1-9]/.test(document.activeElement.querySelector(".u-legend").textContent)`) {
			p.Do(chromedp.KeyEvent(kb.Enter))
			opened(p, 1)
			p.Quiet("file:")
			return
		}
	}
	t.Error("the arrow keys lead to no failure")
}

// Marks that would overlap become one.
func testMarks(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	marks := func() (texts []string) {
		const plot = `document.querySelector("figure[data-plot=failures][data-subject='1']").plot`
		if overlapping := browsertest.Ask[[]string](p, plot+`.marks.filter((mark, i, all) => i > 0 && mark.left < all[i - 1].left + all[i - 1].width).map((mark) => mark.text)`); len(overlapping) > 0 {
			t.Errorf("the marks %q overlap others", overlapping)
		}
		return browsertest.Ask[[]string](p, plot+`.marks.map((mark) => mark.text)`)
	}
	wide := marks()
	browsertest.Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 250, Height: 800, DeviceScaleFactor: 1, Mobile: true})
	p.Until(`[...document.querySelectorAll("figure[data-plot]")].every((f) => f.plot.width < 250)`)
	narrow := marks()
	if len(narrow) >= len(wide) || narrow[0][0] != '1' || !strings.HasSuffix(narrow[len(narrow)-1], wide[len(wide)-1]) {
		t.Errorf("the marks %q are drawn as %q in a narrow window", wide, narrow)
	}
	p.Quiet("file:")
}

// On a telephone, only tables scroll sideways.
func testNarrow(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "")
	browsertest.Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 400, Height: 800, DeviceScaleFactor: 1, Mobile: true})
	p.Do(chromedp.Evaluate[chromedp.Void](`for (const d of document.querySelectorAll("details")) d.open = true`))
	p.Until(`[...document.querySelectorAll("figure[data-plot]")].every((f) => f.plot.width < 400)`)
	wide := browsertest.Ask[[]string](p, `[...document.body.querySelectorAll("*")].filter((e) => !e.closest(".scroll > *, .u-wrap, .skip") && e.checkVisibility() && e.getBoundingClientRect().right > 400.5)
		.map((e) => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 40))`)
	if width := browsertest.Ask[int](p, `document.documentElement.scrollWidth`); width > 400 || len(wide) > 0 {
		t.Errorf("the page is %d pixels wide: %q", width, wide)
	}
	p.Quiet("file:")
}

// A printed page has light colours, no controls, two plots over time beside each other, and all details
// but those of the moments that the reader left folded.
func testPrint(t *testing.T, browser context.Context, run string) {
	p := browsertest.Open(t, browser, fileURL(run), browsertest.Dark)
	p.Do(chromedp.Evaluate[chromedp.Void](`addEventListener("beforeprint", () => { window.printed = {
		dark: matchMedia("(prefers-color-scheme: dark)").matches && getComputedStyle(document.body).backgroundColor !== "rgb(255, 255, 255)",
		closed: [...document.querySelectorAll("details:not([open], .moment)")].length,
		unfolded: document.querySelectorAll(".moment[open]").length,
		beside: [...document.querySelectorAll(".plots figure")].filter((f) => f.plot.width < 350).length - document.querySelectorAll(".plots figure").length,
		widths: [...document.querySelectorAll("figure[data-plot]")].map((f) => f.plot.width),
	}; })`))
	sheet := browsertest.Call(p, page.PrintToPDF, page.PrintToPDFParams{})
	if !bytes.HasPrefix(sheet.Data, []byte("%PDF")) {
		t.Errorf("printed %d bytes", len(sheet.Data))
	}
	printed := browsertest.Ask[struct {
		Dark             bool
		Closed, Unfolded int
		Beside           int // 0 if two plots over time fit beside each other
		Widths           []float64
	}](p, `({ Dark: window.printed.dark, Closed: window.printed.closed, Unfolded: window.printed.unfolded, Beside: window.printed.beside, Widths: window.printed.widths })`)
	if printed.Dark || printed.Closed > 0 || printed.Unfolded > 0 || printed.Beside != 0 || len(printed.Widths) == 0 || slices.Max(printed.Widths) > 700 {
		t.Errorf("printed %+v", printed)
	}
	if left := browsertest.Ask[bool](p, `"printed" in document.documentElement.dataset`); left {
		t.Error("the page is still in print mode after printing")
	}
	browsertest.Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if seen := browsertest.Ask[[]string](p, `[...document.querySelectorAll("button, .skip, .zoom, .keys")].filter((e) => e.checkVisibility()).map((e) => e.textContent)`); len(seen) > 0 {
		t.Errorf("paper shows controls: %q", seen)
	}
	if cut := browsertest.Ask[[]string](p, `[...document.querySelectorAll(".scroll")].filter((e) => getComputedStyle(e).overflowX !== "visible").map((e) => e.ariaLabel)`); len(cut) > 0 {
		t.Errorf("paper cuts %q", cut)
	}
	p.Quiet("file:")
}

// A screen reader can name everything that it can lead to, and headings have no gaps.
func testNames(t *testing.T, browser context.Context, run string) {
	p := openAt(t, browser, run, "#moment-2-1")
	named := map[string]int{}
	for _, node := range browsertest.Call(p, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if node.Ignored || node.Role == nil {
			continue
		}
		role := text(t, node.Role)
		switch role {
		case "button", "link", "region", "heading", "DisclosureTriangle", "columnheader", "rowheader", "status":
			if role != "status" && (node.Name == nil || text(t, node.Name) == "") {
				t.Errorf("a %s has no name", role)
			}
			named[role]++
		}
	}
	for _, role := range []string{"button", "link", "region", "heading", "columnheader", "rowheader", "status"} {
		if named[role] == 0 {
			t.Errorf("nothing is a %s: %v", role, named)
		}
	}
	gaps := browsertest.Ask[[]string](p, `[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter((h, i, all) => i ? h.tagName[1] - all[i - 1].tagName[1] > 1 : h.tagName !== "H1").map((h) => h.textContent)`)
	if len(gaps) > 0 {
		t.Errorf("headings skip a level: %q", gaps)
	}
	silent := browsertest.Ask[[]string](p, `[...document.querySelectorAll(".plot")].filter((e) => !/^Plot of .+: .+/.test(e.ariaLabel)).map((e) => e.closest("figure").dataset.plot)`)
	if len(silent) > 0 {
		t.Errorf("plots without a text: %q", silent)
	}
	p.Quiet("file:")
}

func text(t *testing.T, value *accessibility.Value) string {
	t.Helper()
	if len(value.Value) == 0 {
		return ""
	}
	var s string
	if err := json.Unmarshal(value.Value, &s); err != nil {
		t.Fatal(err)
	}
	return s
}
