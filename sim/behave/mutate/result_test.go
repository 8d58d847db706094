package mutate

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
)

func TestMarkdown(t *testing.T) {
	line := func(number int, was string) Mutant { return lineMutant(Template, "a.tmpl", number, "delete", was, "") }
	d := Document{
		Version: "0123abcd", Command: "windtunnel case mutate", Start: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
		Cases: []string{"cors/a", "cors/b", "cors/idle"},
		Results: []Result{
			{Mutant: line(1, "a;"), Outcome: Killed, By: []string{"cors/a", "cors/b"}},
			{Mutant: line(2, "b | c;"), Outcome: Survived, Reached: 3, Ran: 3},
			{Mutant: line(3, "`d`;"), Outcome: Unreached},
			{Mutant: line(4, "e;"), Outcome: Stillborn, Why: "unknown directive"},
			{Mutant: Mutant{Name: "annotation/x/ignore", Kind: Annotation, Was: "x"}, Outcome: Killed, By: []string{"cors/a"}},
			{Mutant: Mutant{Name: "config/y/ignore", Kind: Config, Was: "y"}, Outcome: Untried},
		},
		Reasons: map[string]string{"template/a.tmpl:2/delete": "nginx does the same by default"},
	}
	var page bytes.Buffer
	if err := Markdown(&page, d); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/page.md", page.Bytes())
}

// Results of an earlier run can name cases that this run does not have.
func TestCasesOfOtherRunsAreNotCounted(t *testing.T) {
	d := Document{Cases: []string{"a", "idle"}, Results: []Result{{Mutant: lineMutant(Template, "a.tmpl", 1, "delete", "a;", ""), Outcome: Killed, By: []string{"a", "gone"}}}}
	var page strings.Builder
	if err := Markdown(&page, d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "1 of 2 cases kill a mutant.") || strings.Contains(page.String(), "gone") {
		t.Errorf("the page counts another case:\n%s", page.String())
	}
}

// A reason is shown as text, whatever it contains.
func TestReasonsAreEscaped(t *testing.T) {
	m := lineMutant(Template, "a.tmpl", 1, "delete", "a;", "")
	d := Document{Results: []Result{{Mutant: m, Outcome: Survived}}, Reasons: map[string]string{m.Name: "on | off, as <host> says"}}
	var page strings.Builder
	if err := Markdown(&page, d); err != nil {
		t.Fatal(err)
	}
	if want := `| on \| off, as &lt;host&gt; says |`; !strings.Contains(page.String(), want) {
		t.Errorf("the page lacks %s:\n%s", want, page.String())
	}
}
