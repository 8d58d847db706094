package regress_test

import (
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/regress"
)

func expectations(t *testing.T, text string) []regress.Expectation {
	t.Helper()
	project, err := regress.ReadProject("windtunnel.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return project.Expected
}

func TestExpectedDifferences(t *testing.T) {
	const item = "regress:\n  expected:\n  - {change: change, directive: %D, reason: it was slow, until: 2027-01-31}\n"
	for directive, want := range map[string]struct {
		today   string
		outcome regress.Outcome
		note    string
	}{
		"proxy_buffering on":  {"2027-01-31", regress.Same, ""},
		"proxy_buffering":     {"2026-12-01", regress.Same, ""},
		"proxy_buffering off": {"2026-12-01", regress.Differs, "does not occur"},
		"deny":                {"2026-12-01", regress.Differs, "does not occur"},
		"'proxy_buffering' ":  {"2027-02-01", regress.Differs, "has expired on 2027-01-31"},
	} {
		head := newSide()
		head.lines["red"] = "proxy_buffering on;"
		today, err := time.Parse(time.DateOnly, want.today)
		if err != nil {
			t.Fatal(err)
		}
		r := run(t, newSide(), head, func(o *regress.Options) {
			o.Expected, o.Today = expectations(t, strings.ReplaceAll(item, "%D", directive)), today
		})
		if r.Outcome != want.outcome || (r.Kinds[0].Expected != nil) != (want.outcome == regress.Same) {
			t.Errorf("%s: %s, %+v", directive, r.Outcome, r.Kinds)
		}
		if notes := strings.Join(r.Notes, " "); !strings.Contains(notes, want.note) || want.note == "" && notes != "" {
			t.Errorf("%s: notes %q, want %q", directive, notes, want.note)
		}
	}
}

// A refusal of one side can be declared by its line, or the line's first word, and the object.
func TestExpectedFailures(t *testing.T) {
	for item, want := range map[string]regress.Outcome{
		"directive: deny all;":                     regress.Same,
		"directive: deny, place: Ingress shop/b":   regress.Same,
		"directive: deny, place: Ingress shop/web": regress.Differs,
		"directive: allow":                         regress.Differs,
	} {
		head := newSide()
		head.refused = "deny"
		r := run(t, newSide(), head, func(o *regress.Options) {
			o.Expected = expectations(t, "regress:\n  expected:\n  - {change: fail, "+item+", reason: it was wrong, until: 2027-01-31}\n")
			o.Today = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
		})
		if r.Outcome != want || (r.Failures[0].Expected != nil) != (want == regress.Same) {
			t.Errorf("%s: %s, %+v", item, r.Outcome, r.Failures)
		}
	}
}

func TestBadExpectations(t *testing.T) {
	for text, want := range map[string]string{
		"regress:\n  expected:\n  - {change: gains, directive: a, reason: b, until: 2027-01-01}": "windtunnel.yaml:3: change \"gains\": want gain",
		"regress:\n  expected:\n  - {change: gain, reason: b, until: 2027-01-01}":                "windtunnel.yaml:3: no directive",
		"regress:\n  expected:\n  - {change: gain, directive: a, until: 2027-01-01}":             "windtunnel.yaml:3: no reason",
		"regress:\n  expected:\n  - {change: gain, directive: a, reason: b}":                     "windtunnel.yaml:3: until \"\"",
		"regress:\n  expected:\n  - {change: gain, directive: a, reason: b, until: soon}":        "windtunnel.yaml:3: until \"soon\"",
		"regress:\n  expected:\n  - {colour: red}":                                               "windtunnel.yaml:3: unknown field colour",
		"regress:\n  expectd: []": "windtunnel.yaml:2: unknown field expectd; did you mean expected? (the fields of regress are budgets, expected)",
		"regres: {}":              "windtunnel.yaml:1: unknown field regres; did you mean regress? (the fields of the file are history, regress)",
		"regress: [":              "windtunnel.yaml:1: ",
	} {
		if _, err := regress.ReadProject("windtunnel.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if all := expectations(t, ""); len(all) != 0 {
		t.Errorf("%v of an empty file", all)
	}
}
