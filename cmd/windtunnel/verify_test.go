package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// verify can print its table as JSON.
func TestVerifyPrintsJSON(t *testing.T) {
	s := &scenario.Scenario{Name: "story"}
	plain, control := trial.Trial{Scenario: s, Dir: "runs/story"}, trial.Trial{Scenario: s, Control: true}
	var out strings.Builder
	rows := []verifyRow{
		verifyRowOf(plain, trial.Result{Outcome: judge.Skipped, Err: errors.New("there is none")}),
		verifyRowOf(control, trial.Result{Outcome: judge.Failed}),
	}
	if err := printVerified(&out, format{chosen: jsonFormat}, rows); err != nil {
		t.Fatal(err)
	}
	var got []map[string]string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{
		{"scenario": "story", "run": "as it is", "outcome": "skip", "note": "there is none", "dir": "runs/story"},
		{"scenario": "story", "run": "control", "outcome": "fail", "note": "", "dir": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
