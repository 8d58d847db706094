package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// write writes the page and returns its path.
func write(t *testing.T, more ...event.Event) string {
	t.Helper()
	result, series, checks := measured(t, more...)
	var out bytes.Buffer
	if err := report.HTML(&out, result, series, checks); err != nil {
		t.Fatal(err)
	}
	webpagetest.Check(t, out.Bytes())
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
	t.Parallel()
	page, err := os.ReadFile(write(t))
	if err != nil {
		t.Fatal(err)
	}
	if found := fetches.Find(page); found != nil {
		t.Errorf("the page loads an external resource: %s", found)
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
		t.Error("a name is executed as a script")
	}
}

// The page of a long run is small enough for a mail or a CI system: its data is as fine as a plot,
// and no finer.
func TestPageOfLongRunIsSmall(t *testing.T) {
	t.Parallel()
	const hour = 3600
	timeline := measure.Timeline{Name: "a", Rounds: []measure.Round{{End: hour * time.Second}}, Width: 2 * time.Second}
	for i := range 30 * hour {
		timeline.Changes = append(timeline.Changes, measure.Served{
			ID: i, Step: "rolling-update", Object: "EndpointSlice demo/svc-000-abcde", Fate: measure.Converged,
			First: time.Duration(i) * time.Microsecond, Last: time.Duration(i) * time.Millisecond,
		})
	}
	var out bytes.Buffer
	result := measure.Result{Subjects: []measure.Subject{{Name: "a"}}}
	if err := report.HTML(&out, result, measure.Series{Subjects: []measure.Timeline{timeline}}, nil); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 200<<10 {
		t.Errorf("the page of %d changes has %d bytes", len(timeline.Changes), out.Len())
	}
	if !bytes.Contains(out.Bytes(), []byte("107999000000")) {
		t.Error("the page lacks the slowest change")
	}
}

// The table of the slowest changes begins with those that some worker did not serve. Changes that were
// undone have no time, and do not take the place of those that have one.
func TestSlowestChangesAreNotThoseUndone(t *testing.T) {
	t.Parallel()
	timeline := measure.Timeline{Name: "a"}
	for range 20 {
		timeline.Changes = append(timeline.Changes, measure.Served{Object: "undone", Fate: measure.Superseded, First: -1, Last: -1})
	}
	timeline.Changes = append(timeline.Changes,
		measure.Served{Object: "slow", Fate: measure.Converged, First: time.Second, Last: time.Minute},
		measure.Served{Object: "unserved", Fate: measure.Unconverged, First: -1, Last: -1})
	var page bytes.Buffer
	if err := report.HTML(&page, measure.Result{Subjects: []measure.Subject{{Name: "a"}}}, measure.Series{Subjects: []measure.Timeline{timeline}}, nil); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(page.String(), `<section id="worst">`)
	table, _, _ = strings.Cut(table, "</section>")
	unserved, slow, undone := strings.Index(table, "unserved<"), strings.Index(table, "slow<"), strings.Index(table, "undone<")
	if unserved < 0 || slow < unserved || undone < slow {
		t.Errorf("the change that was not served is at %d, the slow one at %d, the first undone one at %d:\n%s", unserved, slow, undone, table)
	}
}

// A page does not mention polls or requests if there were none.
func TestPageWithoutPollsOrRequests(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]measure.Subject{
		"quiet": {},
		"busy":  {Requests: measure.Requests{Sent: 1}, Converge: measure.Converge{Granularity: measure.Durations{N: 1, P50: time.Millisecond}}},
	} {
		s.Name = "a"
		var page bytes.Buffer
		if err := report.HTML(&page, measure.Result{Subjects: []measure.Subject{s}}, measure.Series{Subjects: []measure.Timeline{{Name: "a"}}}, nil); err != nil {
			t.Fatal(err)
		}
		for _, claim := range []string{"each worker was polled every", "the load generator was late by"} {
			if strings.Contains(page.String(), claim) != (name == "busy") {
				t.Errorf("%s: the page wrongly contains or lacks %q", name, claim)
			}
		}
	}
}
