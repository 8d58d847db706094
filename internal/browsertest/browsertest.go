// Package browsertest opens pages in a real browser, for tests. It stands between the tests of pages
// and Chromium. Its one rule: a test that cannot have a browser skips, and says how to install one.
package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os/exec"
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
)

// patience limits how long a test waits for the browser. It only elapses if a test fails.
const patience = 10 * time.Minute

// Start starts a headless Chromium that ends with the test. It skips the test if there is none, and
// with -short.
func Start(t *testing.T) context.Context {
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

// Page is an open page.
type Page struct {
	*testing.T
	ctx context.Context

	fail context.CancelCauseFunc // of a page whose script ended with an exception

	mu      sync.Mutex
	console []string
	fetched []string
}

// The colour schemes of Open.
const (
	Light = "light"
	Dark  = "dark"
)

// File returns the URL of a file.
func File(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// Open opens a URL in a new tab, in light or dark mode, and waits until the plots of the page are drawn.
func Open(t *testing.T, browser context.Context, url, scheme string) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, fail := context.WithCancelCause(ctx)
	p := &Page{T: t, ctx: ctx, fail: fail}
	if err := chromedp.Listen(ctx, p.see); err != nil {
		t.Fatal(err)
	}
	Call(p, network.Enable, network.EnableParams{})
	Call(p, log.Enable, cdp.Empty{})
	Call(p, runtime.Enable, cdp.Empty{})
	Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	p.Do(
		chromedp.Navigate(url),
		chromedp.WaitReady(chromedp.CSS("html[data-drawn]")),
	)
	return p
}

func (p *Page) see(e any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *runtime.EventConsoleAPICalled:
		p.console = append(p.console, fmt.Sprintf("%s: %v", e.Type, e.Args))
	case *runtime.EventExceptionThrown:
		p.console = append(p.console, fmt.Sprintf("%+v", *e.ExceptionDetails))
		p.fail(fmt.Errorf("the page threw an exception: %s", p.console[len(p.console)-1]))
	case *log.EventEntryAdded:
		p.console = append(p.console, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		p.fetched = append(p.fetched, e.Request.URL)
	}
}

// Do takes steps in the page.
func (p *Page) Do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, steps...); err != nil {
		p.Fatal(err, context.Cause(p.ctx))
	}
}

// Until waits until a script evaluates to true.
func (p *Page) Until(script string) {
	p.Helper()
	if err := chromedp.Do(p.ctx, chromedp.Poll[chromedp.Void](script, chromedp.WithPollingTimeout(patience))); err != nil {
		p.Fatalf("%s: %v %v", script, err, context.Cause(p.ctx))
	}
}

// Call makes the browser execute a command of its protocol, and returns the result of the command.
func Call[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.Fatal(err)
	}
	return result
}

// Ask evaluates a script in the page.
func Ask[T any](p *Page, script string) T {
	p.Helper()
	answer, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](script))
	if err != nil {
		p.Fatal(err)
	}
	return answer
}

// Quiet checks that the page wrote nothing to the console, and requested nothing whose URL has another
// prefix than from.
func (p *Page) Quiet(from string) {
	p.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.console {
		p.Errorf("the page wrote to the console: %s", line)
	}
	for _, fetched := range p.fetched {
		if !strings.HasPrefix(fetched, from) && !strings.HasPrefix(fetched, "data:") {
			p.Errorf("the page requests %s", fetched)
		}
	}
	if len(p.fetched) == 0 {
		p.Error("saw no request, not even for the page")
	}
}
