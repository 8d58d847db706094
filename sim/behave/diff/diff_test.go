package diff_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/webpage/webpagetest"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/diff"
	"windtunnel.dev/sim/behave/report"
)

// one returns a result with one case, which has these failures.
func one(subject string, failures ...behave.Failure) report.Document {
	outcome := behave.Passed
	if len(failures) > 0 {
		outcome = behave.Failed
	}
	return result(subject, behave.Result{Case: "goldens/shop", File: "goldens/shop.yaml", Outcome: outcome, Failures: failures})
}

func result(subject string, results ...behave.Result) report.Document {
	d := report.Document{Run: report.Run{Subject: subject}}
	for _, r := range results {
		d.Cases = append(d.Cases, report.Case{Result: r, Covers: []string{"annotation/app-root"}})
	}
	return d
}

func failure(line int, step, field, want, got string, about ...string) behave.Failure {
	return behave.Failure{File: "goldens/shop.yaml", Line: line, Step: step, Field: field, Want: want, Got: got, About: about}
}

// failures returns one failure of each effect, in reverse order.
func failures() []behave.Failure {
	return []behave.Failure{
		failure(70, "GET http://shop.example/slow", "time", "1s or more", "0.5s"),
		failure(60, "GET http://shop.example/e", "header X-Forwarded-Proto at the pod", `"http"`, "absent", "field/host", "field/path"),
		failure(61, "GET http://other.example/e", "header X-Forwarded-Proto at the pod", `"http"`, "absent", "field/host", "field/path"),
		failure(50, "GET http://shop.example/d", "header Access-Control-Max-Age", `"60"`, "absent", "annotation/enable-cors", "annotation/cors-max-age"),
		failure(40, "GET http://shop.example/c", "body", `"a"`, `"b"`, "annotation/server-snippet"),
		failure(30, "GET http://shop.example/", "header Location", `"/a"`, `"/b"`, "annotation/app-root"),
		failure(20, "GET http://shop.example/b", "status", "404", "403", "annotation/custom-http-errors"),
		failure(12, "GET http://shop.example/a", "status", "401", "200", "annotation/auth-type"),
		failure(12, "GET http://shop.example/a", "service", "none", "web", "annotation/auth-type"),
		failure(11, "GET http://shop.example/r", "status", "200", "308", "field/tls"),
		failure(11, "GET http://shop.example/r", "service", "web", "none", "field/tls"),
		failure(10, "POST http://shop.example/", "status", "200", "413", "annotation/proxy-body-size"),
		failure(10, "POST http://shop.example/", "service", "web", "none", "annotation/proxy-body-size"),
		failure(10, "POST http://shop.example/", "pod that answered", "one", "none", "annotation/proxy-body-size"),
		failure(9, "GET https://shop.example/", "TLS certificate", "shop", "default", "field/host", "field/tls"),
	}
}

// Each format shows the differences as in its golden file, sorted by their effect on clients.
func TestFormats(t *testing.T) {
	b := one("./my-fork", failures()...)
	b.Cases = append(b.Cases, result("", behave.Voided(&behave.Case{Name: "goldens/void"}, "not within 30s")).Cases...)
	for name, write := range map[string]func(io.Writer, diff.Document) error{
		"diff.txt": diff.Text, "diff.json": diff.JSON, "diff.md": diff.Markdown, "diff.html": diff.HTML,
	} {
		var out bytes.Buffer
		if err := write(&out, diff.WithRecorded(b)); err != nil {
			t.Fatal(err)
		}
		text := out.Bytes()
		if name == "diff.html" {
			webpagetest.Check(t, text)
			// The style sheet is that of all reports.
			head, rest, _ := strings.Cut(out.String(), "<style>")
			_, body, _ := strings.Cut(rest, "</style>")
			text = []byte(head + body)
		}
		golden.Check(t, "testdata/"+name, text)
	}
}

func TestOrder(t *testing.T) {
	want := []diff.Effect{diff.Unreachable, diff.Unreachable, diff.Service, diff.Status, diff.Status, diff.Redirect, diff.Body, diff.Headers, diff.Pod, diff.Pod, diff.Other}
	var got []diff.Effect
	for _, d := range diff.WithRecorded(one("b", failures()...)).Differences {
		got = append(got, d.Effect)
	}
	if len(got) != len(want) {
		t.Fatalf("effects %v, want %v", got, want)
	}
	for n := range want {
		if got[n] != want[n] {
			t.Errorf("difference %d: %s, want %s", n, got[n], want[n])
		}
	}
}

// Steps that differ only in their own hosts, paths and services are shown once.
func TestSteps(t *testing.T) {
	var failures []behave.Failure
	for n, name := range []string{"a", "b"} {
		get := "GET http://" + name + ".example/" + name + "?q=1"
		failures = append(failures,
			failure(10+n, get, "service", name, "none"),
			failure(10+n, get, "status", "200", "404"),
			failure(20+n, get, "header Location", `"https://`+name+`.example/`+name+`?q=1"`, `"https://`+name+`.example/login?to=/`+name+`?q=1"`),
			failure(30+n, get, "service", "none", name),
			failure(40+n, get, "body", `"a"`, `"`+name+`"`),
			failure(50+n, get, "status", "401", "403"),
		)
	}
	want := map[diff.Effect]string{
		diff.Unreachable: "and 1 other step with other names", diff.Redirect: "and 1 other step with other names", diff.Service: "and 1 other step with other names",
		diff.Status: "and 1 other step", diff.Body: "", // the bodies differ in more than names
	}
	for _, g := range diff.Groups(diff.WithRecorded(one("b", failures...)).Differences) {
		if got := g.Alike[0].Also("other step"); got != want[g.Effect] {
			t.Errorf("%s: %q, want %q: %v", g.Effect, got, want[g.Effect], g.Alike)
		}
	}
}

// Two results differ where one of them fails, and where they fail differently.
func TestTwoResults(t *testing.T) {
	const step = "GET http://shop.example/"
	a := one("a", failure(1, step, "status", "200", "500"), failure(2, step, "status", "200", "404"), failure(3, step, "body", `"x"`, "absent"))
	b := one("b", failure(1, step, "status", "200", "500"), failure(2, step, "status", "200", "403"), failure(4, step, "header Vary", `"x"`, "absent"))
	var got []string
	for _, d := range diff.Of(a, b).Differences {
		for _, v := range d.Values {
			got = append(got, v.What+" "+v.A+" "+v.B)
		}
	}
	if text := strings.Join(got, "; "); text != `status 404 403; body absent "x"; header Vary "x" absent` {
		t.Errorf("differences: %s", text)
	}
	if same := diff.Of(a, a).Differences; len(same) != 0 {
		t.Errorf("a result differs from itself: %v", same)
	}
	other := result("c", behave.Result{Case: "goldens/other", Outcome: behave.Passed}, behave.Skip(&behave.Case{Name: "goldens/shop"}, "there is no ipv6"))
	lacks := diff.Of(a, other)
	if len(lacks.NotCompared) != 2 || lacks.Cases != 0 || lacks.NotCompared[1].Why != "skipped on B: there is no ipv6" {
		t.Errorf("not compared: %v", lacks.NotCompared)
	}
}

// No format interprets text of a controller as its own markup.
func TestFormatsEscapeTexts(t *testing.T) {
	const evil = "<img src=x onerror=alert(1)>\n# heading\n| cell |\x1b[2J"
	d := diff.WithRecorded(one(evil, failure(1, evil, "header "+evil, evil, evil, evil)))
	for name, write := range map[string]func(io.Writer, diff.Document) error{"text": diff.Text, "markdown": diff.Markdown, "html": diff.HTML} {
		var out bytes.Buffer
		if err := write(&out, d); err != nil {
			t.Fatal(err)
		}
		if name != "html" && strings.Contains(out.String(), "\x1b[2J") {
			t.Errorf("%s has control characters", name)
		}
		if name == "html" && strings.Contains(out.String(), "<img") {
			t.Error("the page contains a tag of a text")
		}
		for line := range strings.Lines(out.String()) {
			if name != "html" && strings.HasPrefix(line, "# ") {
				t.Errorf("in %s, a text is a heading: %q", name, line)
			}
		}
	}
}

// Fields of the connection have the effect headers, even if their names resemble those of other effects.
func TestEffectsOfConnections(t *testing.T) {
	const step = "GET https://shop.example/"
	for _, field := range []string{"number of requests at the same time", "status in the stapled OCSP response", "curve", "cipher suite", "number of certificates in the chain"} {
		d := diff.WithRecorded(one("b", failure(1, step, field, "a", "b")))
		if got := d.Differences[0].Effect; got != diff.Headers {
			t.Errorf("%s: %s, want %s", field, got, diff.Headers)
		}
	}
}

// A side without an answer, or without a pod that answered, does not count as giving the expected answer.
func TestMissingAnswersAreNotTheExpectedOnes(t *testing.T) {
	const step = "GET http://shop.example/"
	other := []behave.Failure{
		failure(1, step, "status", "200", "404"), failure(1, step, "header Vary", "absent", `"a"`), failure(1, step, "path at the pod", `"/"`, `"/x"`),
		failure(1, step, "Path of cookie a", `"/"`, `"/x"`),
	}
	none := one("none", failure(1, step, "answer", "one", "missing, closed"))
	noPod := one("noPod", failure(1, step, "status", "200", "503"), failure(1, step, "pod that answered", "one", "none"), failure(1, step, "cookie a", "set", "absent"))
	for _, failures := range [][]behave.Failure{other, none.Cases[0].Failures, noPod.Cases[0].Failures} {
		for n := range failures {
			failures[n].Answer, failures[n].Answers = 1, 1
		}
	}
	for _, test := range []struct {
		a, b report.Document
		want string
	}{
		{one("other", other...), none, "answer one → missing, closed"},
		{none, one("other", other...), "answer missing, closed → one"},
		{one("other", other...), noPod, `status 404 → 503; cookie a set → absent; header Vary "a" → absent; pod that answered one → none`},
		{noPod, one("other", other...), `status 503 → 404; header Vary absent → "a"; cookie a absent → set; pod that answered none → one`},
	} {
		var got []string
		for _, d := range diff.Of(test.a, test.b).Differences {
			for _, v := range d.Values {
				got = append(got, v.What+" "+v.A+" → "+v.B)
			}
		}
		if text := strings.Join(got, "; "); text != test.want {
			t.Errorf("%s and %s: %s, want %s", test.a.Subject, test.b.Subject, text, test.want)
		}
	}
}

// TestNothingCompared checks that no format says that the answers are the same if no case has any.
func TestNothingCompared(t *testing.T) {
	d := diff.Document{A: "a", B: "b", NotCompared: []diff.NotCompared{{Case: "cors/origin", Why: "void"}}}
	for name, write := range map[string]func(io.Writer, diff.Document) error{"text": diff.Text, "markdown": diff.Markdown, "html": diff.HTML} {
		var out strings.Builder
		if err := write(&out, d); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); !strings.Contains(text, "no case was compared") || strings.Contains(text, "same answers") || strings.Contains(text, "no difference") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
