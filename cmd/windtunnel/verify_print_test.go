package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/scenario"
)

// The table of verify, to be parsed.
func TestVerifyPrintsJSON(t *testing.T) {
	s := &scenario.Scenario{Name: "story"}
	var out strings.Builder
	trials := []trial{{scenario: s, code: exitOK, note: "1 expectation holds", dir: "runs/story"}, {scenario: s, control: true, code: exitFailed}}
	if err := printTrials(&out, form{chosen: jsonForm}, trials); err != nil {
		t.Fatal(err)
	}
	var got []map[string]string
	if err := json.Unmarshal([]byte(out.String()), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{
		{"scenario": "story", "run": "as it is", "outcome": "pass", "note": "1 expectation holds", "dir": "runs/story"},
		{"scenario": "story", "run": "control", "outcome": "fail", "note": "", "dir": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
