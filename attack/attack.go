// Package attack holds hostile input against the controller and the harness,
// and keeps what was tried. It is tests: one file a target, such as the injection
// of directives or the status port. `go test ./attack` tries a few of each,
// `make attack` many. Its one rule: an attack says how often it was tried and
// what would have counted as a success.
package attack

import (
	"encoding/json"
	"os"
	"testing"
)

// The environment of a full run: see hack/attack.
const (
	fullVariable    = "WINDTUNNEL_ATTACK"         // set: try the full number
	summaryVariable = "WINDTUNNEL_ATTACK_SUMMARY" // a file that takes a line of JSON for each row
)

// Row is one line of the summary.
type Row struct {
	Target  string `json:"target"`  // what was attacked, such as "status port"
	Attack  string `json:"attack"`  // with what, such as "POST backends through mirror-target"
	Tried   int    `json:"tried"`   // how often
	Landed  int    `json:"landed"`  // how often it succeeded; more than 0 fails the test
	Success string `json:"success"` // what would have counted as a success
	Note    string `json:"note,omitempty"`
}

// Full says whether this is a full run.
func Full() bool { return os.Getenv(fullVariable) != "" }

// Times is how often to try: few in an ordinary test run, many in a full one.
func Times(few, many int) int {
	if Full() {
		return many
	}
	return few
}

// Report keeps a row for the summary and fails the test if the attack succeeded.
func Report(t testing.TB, row Row) {
	t.Helper()
	if row.Tried == 0 {
		t.Errorf("%s: %s: it was never tried", row.Target, row.Attack)
	}
	if row.Landed > 0 {
		t.Errorf("%s: %s: %d of %d succeeded: %s", row.Target, row.Attack, row.Landed, row.Tried, row.Success)
	}
	path := os.Getenv(summaryVariable)
	if path == "" {
		return
	}
	line, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
}
