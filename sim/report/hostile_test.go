package report

import (
	"bytes"
	"strings"
	"testing"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
)

// No page interprets text from a user, a log or a controller as its own markup.
func TestReportsEscapeTexts(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>\n\n# heading\n| cell |\x1b[2J `tick` [link](http://example.com)"
	result := measure.Result{
		Run: event.Run{Scenario: evil, Summary: evil, Driver: evil, Subjects: []string{evil}},
		Subjects: []measure.Subject{{
			Name: evil, Invalid: []string{evil}, Trouble: []string{evil},
			Requests: measure.Requests{Sent: 2, Failed: 1, Causes: map[string]int{evil: 1}},
			Struck:   []measure.Struck{{Name: evil, Count: 1, Of: evil, Times: 1}},
		}},
	}
	series := measure.Series{Subjects: []measure.Timeline{{Name: evil, Moments: []measure.Moment{{
		Failed: 1, Causes: map[string]int{evil: 1}, Lanes: map[string]int{evil: 1}, Log: []string{evil},
		Requests: []measure.FailedRequest{{Lane: evil, Method: evil, Host: evil, Pod: evil, Cause: event.Cause(evil), Detail: evil}},
		Changes:  []measure.Served{{Step: evil, Object: evil, Fate: measure.Failed, Error: evil}},
		Faults:   []measure.Broken{{Name: evil}},
	}}}}}
	checks := []judge.Check{{Subject: evil, Evaluation: expect.Evaluation{Text: evil, Actual: evil}}}
	var page bytes.Buffer
	if err := Markdown(&page, result, series, checks); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(page.String()) {
		outside := line
		for _, code := range []string{"`` " + "<img src=x onerror=alert(1)> # heading \\| cell \\| [2J `tick` [link](http://example.com)" + " ``"} {
			outside = strings.ReplaceAll(outside, code, "")
		}
		if strings.Contains(outside, "<img") || strings.Contains(outside, "\x1b") || strings.HasPrefix(line, "# ") || strings.Contains(outside, " [link]") {
			t.Errorf("the text is part of the page: %q", line)
		}
	}
	page.Reset()
	if err := HTML(&page, result, series, checks); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "<img") {
		t.Error("a text is an element of the page")
	}
	page.Reset()
	if err := Table(&page, result, series, checks); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page.String(), "\x1b") {
		t.Error("a controller's log sends control sequences to the terminal")
	}
}
