package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/behave"
)

// document returns a document with a case of each outcome.
func document() Document {
	var cases []*behave.Case
	var results []behave.Result
	add := func(name, covers string, r behave.Result) {
		cases = append(cases, &behave.Case{Name: name, File: "cases/" + name + ".yaml", Spec: behave.Spec{Summary: "what " + name + " does", Covers: []string{covers}}})
		r.Case, r.File = name, "cases/"+name+".yaml"
		results = append(results, r)
	}
	add("auth/basic", "annotation/auth-type", behave.Result{Outcome: behave.Passed, Took: 12 * time.Millisecond})
	add("auth/realm", "annotation/auth-realm", behave.Result{Outcome: behave.Differs, Reason: "compat.md#rejected-ingress"})
	add("auth/url", "annotation/auth-url", behave.Result{Outcome: behave.Failed, Took: 2 * time.Second, Failures: []behave.Failure{
		{File: "cases/auth/url.yaml", Line: 9, Step: "GET http://a.example/", Field: "status", Got: "200", Want: "401"},
		{File: "cases/auth/url.yaml", Line: 12, Step: "GET http://a.example/x", Answer: 2, Answers: 20, Others: 3, Field: "header Location", Got: "absent", Want: `"https://a.example/"`},
		{File: "cases/auth/url.yaml", Line: 13, Step: "apply later", Field: "number of reloads", Got: "1", Want: "0"},
		{File: "cases/auth/url.yaml", Line: 14, Step: "apply last", Field: "number of reloads", Got: "1", Want: "0"},
	}})
	add("tls/sni", "flag/default-ssl-certificate", behave.Result{Outcome: behave.Void, Reason: "the controller did not start: exit status 1"})
	add("tls/six", "config/disable-ipv6=default", behave.Result{Outcome: behave.Skipped, Reason: "there is no ipv6"})
	add("alone", "annotation/auth-type", behave.Result{Outcome: behave.Passed})
	return Of(Run{Subject: "bundled controller", Driver: "local", Start: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Took: 83 * time.Second}, cases, results)
}

// liveDocument returns a document of live changes: reload, dynamic, either, not shown, and not seen.
func liveDocument() Document {
	var cases []*behave.Case
	var results []behave.Result
	add := func(name string, r behave.Result) {
		c := &behave.Case{Name: name, File: "cases/" + name + ".yaml", Spec: behave.Spec{Summary: "what " + name + " does"}}
		for _, l := range r.Live {
			c.Covers = append(c.Covers, l.Covers)
		}
		r.Case, r.File = name, c.File
		cases, results = append(cases, c), append(results, r)
	}
	seen := func(took time.Duration, reloads int) *behave.Seen {
		return &behave.Seen{Took: took, Reloads: reloads, Why: []string{"a reason"}}
	}
	passed := func(covers string, shown bool, set, removed *behave.Seen) behave.LiveChange {
		return behave.LiveChange{Covers: covers, Outcome: behave.Passed, Shown: shown, Set: set, Removed: removed}
	}
	add("auth/basic", behave.Result{Outcome: behave.Passed, Took: 3 * time.Second, Live: []behave.LiveChange{
		passed("annotation/auth-type", true, seen(310*time.Millisecond, 1), seen(400*time.Millisecond, 2)),
		passed("annotation/auth-realm", false, seen(0, 1), seen(0, 0)),
	}})
	add("sessions/cookie", behave.Result{Outcome: behave.Passed, Live: []behave.LiveChange{
		passed("annotation/affinity", true, seen(900*time.Millisecond, 0), seen(1200*time.Millisecond, 0)),
		passed("annotation/auth-type", true, seen(20*time.Millisecond, 0), seen(0, 0)),
	}})
	failures := (&behave.Case{}).Unlike("config/use-gzip is set", "but not seen within 10s", []behave.Failure{{
		File: "cases/http/gzip.yaml", Line: 7, Step: "GET http://a.example/", Field: "header Content-Encoding", Got: "absent", Want: `"gzip"`,
	}}, nil)
	add("http/gzip", behave.Result{Outcome: behave.Failed, Failures: failures, Live: []behave.LiveChange{
		{Covers: "config/use-gzip", Outcome: behave.Failed, Shown: true, Set: seen(0, 0)},
		{Covers: "config/gzip-level", Outcome: behave.Skipped, Reason: "the case shows a default"},
	}})
	return Of(Run{Subject: "bundled controller", Driver: "local", Took: 83 * time.Second}, cases, results)
}

// Each format shows the results as in its golden file.
func TestFormats(t *testing.T) {
	checkFormats(t, document(), "testdata/")
}

func TestFormatsOfLiveChanges(t *testing.T) {
	checkFormats(t, liveDocument(), "testdata/live-")
	var out bytes.Buffer
	if err := ChangesJSON(&out, liveDocument()); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/live-changes.json", out.Bytes())
	var matrix Matrix
	if err := json.Unmarshal(out.Bytes(), &matrix); err != nil || len(matrix.Changes) != 4 || matrix.Driver != "local" {
		t.Errorf("%v: %+v", err, matrix)
	}
}

func checkFormats(t *testing.T, d Document, prefix string) {
	t.Helper()
	for name, write := range map[string]func(io.Writer, Document) error{
		"result.json": JSON, "report.html": HTML, "report.md": Markdown, "junit.xml": JUnit,
		"table.txt": func(w io.Writer, d Document) error {
			lines := NewLines(w)
			for _, c := range d.Cases {
				if err := lines.Write(c.Result); err != nil {
					return err
				}
			}
			return Table(w, d)
		},
	} {
		var out bytes.Buffer
		if err := write(&out, d); err != nil {
			t.Fatal(name, err)
		}
		text := out.Bytes()
		if name == "report.html" {
			webpagetest.Check(t, text)
			// The style sheet is that of all reports.
			head, rest, _ := strings.Cut(out.String(), "<style>")
			_, body, _ := strings.Cut(rest, "</style>")
			text = []byte(head + body)
		}
		golden.Check(t, prefix+name, text)
	}
}

// No format interprets text of a controller as its own markup.
func TestReportsEscapeTexts(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>\n\n# heading\n| cell |\x1b[2J ]]> `tick` [link](http://example.com)"
	c := &behave.Case{Name: "a/" + evil, File: evil, Spec: behave.Spec{Summary: evil, Covers: []string{evil}}}
	r := behave.Result{Case: c.Name, File: evil, Outcome: behave.Failed, Failures: []behave.Failure{{File: evil, Line: 1, Step: evil, Field: evil, Got: evil, Want: evil}}}
	void := &behave.Case{Name: "b/" + evil, File: evil}
	d := Of(Run{Subject: evil, Driver: evil}, []*behave.Case{c, void}, []behave.Result{r, behave.Voided(void, evil)})
	texts := map[string]string{}
	for name, write := range map[string]func(io.Writer, Document) error{
		"html": HTML, "markdown": Markdown, "junit": JUnit, "table": Table,
		"line": func(w io.Writer, d Document) error { return NewLines(w).Write(d.Cases[0].Result) },
		"void": func(w io.Writer, d Document) error { return NewLines(w).Write(d.Cases[1].Result) },
	} {
		var out bytes.Buffer
		if err := write(&out, d); err != nil {
			t.Fatal(err)
		}
		texts[name] = out.String()
	}
	for _, name := range []string{"table", "line", "void", "junit", "markdown"} {
		if strings.Contains(texts[name], "\x1b") {
			t.Errorf("%s has control characters: %q", name, texts[name])
		}
	}
	for _, name := range []string{"line", "void"} {
		if strings.Count(texts[name], "\n") != 1 {
			t.Errorf("%s is not one line: %q", name, texts[name])
		}
	}
	if strings.Contains(texts["html"], "<img") {
		t.Error("the page contains a tag of a text")
	}
	for line := range strings.Lines(texts["markdown"]) {
		if strings.HasPrefix(line, "# ") {
			t.Errorf("a text is a heading: %q", line)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(texts["junit"]))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the JUnit report is not XML: %v", err)
		}
	}
}

// A reason of several successive cases is written once.
func TestLinesWithTheSameReason(t *testing.T) {
	var out strings.Builder
	lines := NewLines(&out)
	for _, r := range []behave.Result{
		{File: "a.yaml", Outcome: behave.Void, Reason: "x"}, {File: "b.yaml", Outcome: behave.Void, Reason: "x"},
		{File: "c.yaml", Outcome: behave.Passed}, {File: "d.yaml", Outcome: behave.Void, Reason: "x"},
		{File: "e.yaml", Outcome: behave.Void, Reason: "y"}, {File: "f.yaml", Outcome: behave.Void, Reason: "x"},
	} {
		if err := lines.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if want := "void a.yaml: x\nvoid b.yaml: for the same reason\nvoid d.yaml: for the same reason\nvoid e.yaml: y\nvoid f.yaml: x\n"; out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
