package mutate

import (
	"bytes"
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
