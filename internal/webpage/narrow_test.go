package webpage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"windtunnel.dev/internal/browsertest"
	"windtunnel.dev/internal/webpage"
)

// content holds elements that overflow a narrow page.
var content = strings.NewReplacer("LONG", strings.Repeat("long-name-", 12), "UNBROKEN", strings.Repeat("unbroken", 20),
	"HEADERS", strings.Repeat(`<th scope="col">lanes.websocket.failed</th>`, 22), "VALUES", strings.Repeat("<td>1.02 MiB</td>", 22)).Replace(`
<h1>LONG</h1> <h2>UNBROKEN</h2> <h3>UNBROKEN</h3>
<ul class="badges"><li class="badge good">UNBROKEN: valid run</li></ul>
<p>UNBROKEN</p> <ul><li>LONG <code>UNBROKEN</code></li></ul>
<details open><summary>UNBROKEN</summary><pre>UNBROKEN</pre></details>
<div class="scroll"><table id="codes">
<tr><th><code>GET http://shop.example/</code></th><td>annotation/proxy-body-size</td><td><code>200</code></td><td><code>none</code></td><td><code>UNBROKEN</code></td></tr>
</table></div>
<div class="scroll"><table id="notes">
<tr><th scope="row">changes<span class="note">the changes of the cluster that the scenario made in the measured rounds</span></th><td class="number"><span class="figure">1.02 s / 2.02 s / 2.12 s / LONG</span></td><td>LONG</td></tr>
</table></div>
<div class="scroll"><table class="dense" id="dense">
<tr><th scope="row">changes<span class="note">the changes of the cluster</span></th><td class="number"><span class="figure">1 s</span><span class="more">0.5 s</span></td></tr>
</table></div>
<section id="columns"><div class="scroll"><table class="dense"><thead><tr>HEADERS</tr></thead><tbody><tr>VALUES</tr></tbody></table></div></section>
<dl id="list"><dt>cpu</dt><dd>2</dd></dl>`)

func open(t *testing.T) *browsertest.Page {
	t.Helper()
	browser := browsertest.Start(t)
	path := filepath.Join(t.TempDir(), "page.html")
	text := fmt.Sprintf(`<!doctype html><html lang="en" data-drawn="0"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><style>%s</style><body>%s`, webpage.Style(), content)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return browsertest.Open(t, browser, browsertest.File(path), browsertest.Light)
}

func width(p *browsertest.Page, pixels int64) {
	browsertest.Call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: pixels, Height: 800, DeviceScaleFactor: 1})
}

// A narrow page is as wide as its window: only tables scroll, and their short values stay whole.
func TestNarrow(t *testing.T) {
	p := open(t)
	width(p, 400)
	for _, wide := range browsertest.Ask[[]string](p, `[...document.body.querySelectorAll("*")].filter((e) => !e.closest(".scroll > *") && (e.getBoundingClientRect().right > 400.5 || getComputedStyle(e).overflowX === "visible" && e.scrollWidth > 400)).map((e) => e.tagName + " " + e.className)`) {
		t.Errorf("%s is wider than the page", wide)
	}
	for _, broken := range browsertest.Ask[[]string](p, `[...document.querySelectorAll("#codes code")].filter((e) => e.textContent.length < 10 && e.getClientRects().length + e.offsetHeight / 30 > 2).map((e) => e.textContent)`) {
		t.Errorf("the value %s is broken", broken)
	}
	if most := browsertest.Ask[float64](p, `Math.max(...[...document.querySelectorAll("#codes code")].map((e) => e.offsetWidth))`); most > 200 {
		t.Errorf("a value is %v pixels wide", most)
	}
}

// A long headline leaves most of a phone's screen free.
func TestHeadline(t *testing.T) {
	p := open(t)
	width(p, 400)
	if got := browsertest.Ask[float64](p, `document.querySelector("h1").offsetHeight`); got > 800/4 {
		t.Errorf("a headline of %d characters is %v pixels high", len("long-name-")*12, got)
	}
}

// The first column of a wide table stays wide enough for notes.
func TestNotes(t *testing.T) {
	p := open(t)
	width(p, 1000)
	if got := browsertest.Ask[float64](p, `document.querySelector("#notes th").offsetWidth`); got < 200 {
		t.Errorf("the column of notes is %v pixels wide", got)
	}
}

// In print, nothing scrolls, and notes are not larger than the text that they explain.
func TestPaper(t *testing.T) {
	p := open(t)
	width(p, 700)
	browsertest.Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	for _, wide := range browsertest.Ask[[]string](p, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 700.5 || e.scrollWidth > 700).map((e) => e.tagName + " " + e.className + " " + e.id)`) {
		t.Errorf("%s is wider than the paper", wide)
	}
	for _, large := range browsertest.Ask[[]string](p, `[...document.querySelectorAll(".note, .more")].filter((e) => parseFloat(getComputedStyle(e).fontSize) > parseFloat(getComputedStyle(e.parentElement).fontSize)).map((e) => e.textContent)`) {
		t.Errorf("%q is larger than the text that it explains", large)
	}
	if page := browsertest.Ask[string](p, `getComputedStyle(document.querySelector("#columns")).page`); page != "wide" {
		t.Errorf("a table of many columns is on a page of kind %q", page)
	}
	if inside := browsertest.Ask[string](p, `getComputedStyle(document.querySelector("#list")).breakInside`); inside != "avoid" {
		t.Errorf("a page may end within a short list: break-inside %s", inside)
	}
}
