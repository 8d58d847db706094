package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
