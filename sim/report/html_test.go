package report_test

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// write makes the page and returns its path.
func write(t *testing.T, more ...event.Event) string {
	t.Helper()
	result, series, outcomes := measured(t, more...)
	var out bytes.Buffer
	if err := report.HTML(&out, result, series, outcomes); err != nil {
		t.Fatal(err)
	}
	return save(t, out.Bytes())
}

func save(t *testing.T, page []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

var fetches = regexp.MustCompile(`(?:src|href)="(?:https?:)?//|@import|url\(`)

func TestPageNeedsNoNetwork(t *testing.T) {
	page, err := os.ReadFile(write(t))
	if err != nil {
		t.Fatal(err)
	}
	if found := fetches.Find(page); found != nil {
		t.Errorf("the page fetches something: %s", found)
	}
	for _, want := range []string{"reload-vs-dynamic", "last convergence", "requests.failed == 0", "EndpointSlice demo/svc-"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPageEscapes(t *testing.T) {
	const hostile = `</script><script>alert(1)</script>`
	var out bytes.Buffer
	result := measure.Result{Subjects: []measure.Subject{{Name: hostile, Trouble: []string{hostile}}}}
	series := measure.Series{Subjects: []measure.Timeline{{Name: hostile}}}
	if err := report.HTML(&out, result, series, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), hostile) {
		t.Error("a name became a script")
	}
}

// The page draws every plot and writes nothing to the console, also of a run
// in which nothing happened.
func TestPageInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	var empty bytes.Buffer
	result := measure.Result{Subjects: []measure.Subject{{Name: "a"}}}
	if err := report.HTML(&empty, result, measure.Series{Subjects: []measure.Timeline{{Name: "a"}}}, nil); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ path, drawn string }{
		"run":  {write(t), "7"},
		"void": {write(t, void...), "7"},
		"none": {save(t, empty.Bytes()), "4"},
	} {
		t.Run(name, func(t *testing.T) {
			dom, log := browse(t, test.path)
			if want := `data-drawn="` + test.drawn + `"`; !strings.Contains(dom, want) {
				t.Errorf("the page lacks %s: not every plot was drawn", want)
			}
			for line := range strings.Lines(log) {
				if strings.Contains(line, "CONSOLE") {
					t.Errorf("the console says: %s", line)
				}
			}
		})
	}
}

// browse opens a file in a headless Chromium and returns its DOM and log.
func browse(t *testing.T, path string) (dom, log string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium in PATH to open the page with")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	browser := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--window-size=1200,900", "--dump-dom", (&url.URL{Scheme: "file", Path: path}).String())
	var out, errs bytes.Buffer
	browser.Stdout, browser.Stderr = &out, &errs
	if err := browser.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, errs.String())
	}
	return out.String(), errs.String()
}
