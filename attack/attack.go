// Package attack tests the controller and the harness with hostile input, and
// records the results. Each target, such as the injection of directives or the
// status port, has one test file. `go test ./attack` tries a few inputs of each
// attack, `make attack` many. Its one rule: an attack reports the number of tries
// and what counts as a success.
package attack

import (
	"encoding/json"
	"os"
	"testing"
)

// Environment variables of a full run, see hack/attack.
const (
	fullVariable    = "WINDTUNNEL_ATTACK"         // set: try the full number
	summaryVariable = "WINDTUNNEL_ATTACK_SUMMARY" // path of a file; each row is appended as a line of JSON
)

// Row is one line of the summary.
type Row struct {
	Target  string `json:"target"`  // what was attacked, such as "status port"
	Attack  string `json:"attack"`  // the attack, such as "POST backends through mirror-target"
	Tried   int    `json:"tried"`   // number of tries
	Landed  int    `json:"landed"`  // successes; more than 0 fails the test
	Success string `json:"success"` // what counts as a success
	Note    string `json:"note,omitempty"`
}

// Full reports whether this is a full run.
func Full() bool { return os.Getenv(fullVariable) != "" }

// Times returns the number of tries: few in an ordinary test run, many in a full one.
func Times(few, many int) int {
	if Full() {
		return many
	}
	return few
}

// Report adds a row to the summary and fails the test if the attack succeeded.
func Report(t testing.TB, row Row) {
	t.Helper()
	if row.Tried == 0 {
		t.Errorf("%s: %s: never tried", row.Target, row.Attack)
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
