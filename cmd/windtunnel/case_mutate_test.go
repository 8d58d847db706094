package main

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/controller/render"
	"windtunnel.dev/sim/behave/mutate"
	"windtunnel.dev/sim/judge"
)

// Each mutant of our template, and the marked template, can be parsed, so that nginx and the cases
// judge it, not the parser.
func TestMutantsOfOurTemplateAreTemplates(t *testing.T) {
	files := render.Files()
	if _, err := render.ParseFolder("marked", mutate.Marked(files)); err != nil {
		t.Errorf("marked: %v", err)
	}
	mutants := mutate.OfTemplate(files)
	for left := mutants; len(left) > 0; { // all at once that change different lines
		var chosen, rest []mutate.Mutant
		for _, m := range left {
			if len(chosen) > 0 && chosen[len(chosen)-1].Position() == m.Position() {
				rest = append(rest, m)
			} else {
				chosen = append(chosen, m)
			}
		}
		if _, err := render.ParseFolder("mutants", mutate.Apply(files, chosen...)); err != nil {
			t.Error(err)
		}
		left = rest
	}
	// Each line with a directive of its own has a mutant.
	for name, text := range files {
		for i, line := range strings.Split(text, "\n") {
			line = strings.TrimSpace(line)
			if !strings.HasSuffix(line, ";") || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "{{") || strings.HasPrefix(line, "'") {
				continue
			}
			found := false
			for _, m := range mutants {
				found = found || m.File == name && m.Line == i+1
			}
			if !found {
				t.Errorf("%s:%d has no mutant: %s", name, i+1, line)
			}
		}
	}
}

// Each reason matches a mutant, so that a reason cannot outlive its line or setting.
func TestReasonsAreAboutMutants(t *testing.T) {
	cases, err := loadCases([]string{caseFiles})
	if err != nil {
		t.Fatal(err)
	}
	o := caseMutateOptions{reasons: "../../hack/mutations.tsv"}
	in, err := o.hunted(cases)
	if err != nil {
		t.Fatal(err)
	}
	reasons, err := o.readReasons()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mutate.Stale(in.All, reasons) {
		t.Errorf("%s:%d: no mutant is about %s:%s", o.reasons, r.Line, r.File, r.Was)
	}
}

// A share that equals the permitted one passes, whatever its rounding error.
func TestPermittedShareOfSurvivors(t *testing.T) {
	for most := range 101 {
		counts := mutate.Counts{mutate.Killed: 100 - most, mutate.Survived: most}
		if got := survivorsOutcome(counts, float64(most)); got != judge.Passed {
			t.Errorf("%d of 100 mutants survive, as permitted: %v", most, got)
		}
	}
}

func TestSurvivorsOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		counts mutate.Counts
		want   judge.Outcome
	}{
		"few survive":                  {mutate.Counts{mutate.Killed: 97, mutate.Survived: 3}, judge.Passed},
		"many survive":                 {mutate.Counts{mutate.Killed: 90, mutate.Survived: 10}, judge.Failed},
		"undecided may survive":        {mutate.Counts{mutate.Killed: 50, mutate.Survived: 1, mutate.Undecided: 49}, judge.Void},
		"undecided do not matter":      {mutate.Counts{mutate.Killed: 97, mutate.Survived: 1, mutate.Undecided: 2}, judge.Passed},
		"many survive, some undecided": {mutate.Counts{mutate.Killed: 80, mutate.Survived: 10, mutate.Undecided: 10}, judge.Failed},
		"none lives":                   {mutate.Counts{mutate.Stillborn: 3}, judge.Passed},
	} {
		if got := survivorsOutcome(test.counts, 5); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// A flag that would be ignored, or make every outcome pass, is refused.
func TestMutateRefusesFlags(t *testing.T) {
	for _, flag := range []string{"--kind=templates", "--sample=-1", "--max-survivors=NaN", "--max-survivors=-1", "--max-survivors=101", "--budget=-1m"} {
		var stderr bytes.Buffer
		args := []string{"case", "mutate", flag, "-o", filepath.Join(t.TempDir(), "out"), t.TempDir()}
		if code := Main(t.Context(), args, io.Discard, &stderr); code != exitBadInput || !strings.Contains(stderr.String(), flag[:strings.Index(flag, "=")]+"=") {
			t.Errorf("%s: exit code %d, %s", flag, code, stderr.String())
		}
	}
}
