package checkup_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/adapters/adapterstest"
	"windtunnel.dev/sim/checkup"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/subject"
)

func TestMain(m *testing.M) {
	adapterstest.Main()
	os.Exit(m.Run())
}

// stub is the adapter of a controller of package adapterstest, without its arguments and processes.
const stub = `
apiVersion: windtunnel.dev/v1
kind: Adapter
metadata: {name: stub}
spec:
  summary: A controller of package adapterstest.
  ingressClass: {controller: windtunnel.dev/stub}
  userAgent: stub/
  health:
  - {address: "127.0.0.1:{{.Ports.HTTP}}", proves: its proxy listens}
  command: ["{{.Controller}}", "--kubeconfig={{.Kubeconfig}}", "--http=127.0.0.1:{{.Ports.HTTP}}", "--publish={{.PublishAddress}}"]
`

const (
	nobody   = "nobody" // ends at once
	single   = "stub-single"
	forked   = "stub-forked"
	ofSingle = "  processes: {workers: single}\n  log: [{match: '^stub: routes loaded'}]\n"
	ofForked = "  processes: {workers: forked, master: '^\\S+ -W '}\n  log: [{match: '^stub: haproxy reloaded', tells: reload}]\n"
)

// check makes a checkup of this test binary in the role of a controller or, for nobody, of a program that
// exits at once.
func check(t *testing.T, role, processes string, patience time.Duration) map[string]checkup.Result {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; not run with -short")
	}
	arguments := `"{{.Controller}}", ` + role
	if role == forked {
		arguments += `, "--proxy={{.Controller}}", "--directory={{.Root}}"`
	}
	file := filepath.Join(t.TempDir(), "stub.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(stub, `"{{.Controller}}"`, arguments, 1)+processes), 0o644); err != nil {
		t.Fatal(err)
	}
	controller, err := os.Executable()
	if role == nobody {
		controller, err = exec.LookPath("false")
	}
	if err != nil {
		t.Fatal(err)
	}
	report, err := checkup.Do(t.Context(), checkup.Options{
		Driver: local.Driver{}, Subject: subject.Subject{Name: "stub", Adapter: file, Controller: controller}, Dir: t.TempDir(), Patience: patience,
	})
	if err != nil {
		t.Fatal(err)
	}
	byPoint := map[string]checkup.Result{}
	for _, r := range report.Results {
		byPoint[r.Point] = r
	}
	return byPoint
}

func TestShapesOfProcesses(t *testing.T) {
	for name, test := range map[string]struct{ role, processes, found, newHost string }{
		"one process":                     {single, ofSingle, "never replaced", ", without a reload"},
		"a master that forks its workers": {forked, ofForked, "1 worker", ", with "},
	} {
		t.Run(name, func(t *testing.T) {
			results := check(t, test.role, test.processes, time.Minute)
			for _, r := range results {
				if !r.OK {
					t.Errorf("%s: %s", r.Point, r.Found)
				}
			}
			if got := results["processes"].Found; !strings.Contains(got, test.found) {
				t.Errorf("the processes are %s, want %s", got, test.found)
			}
			if got := results["new host"].Found; !strings.Contains(got, test.newHost) {
				t.Errorf("a new host: %s, want %s", got, test.newHost)
			}
		})
	}
}

// The report says, point by point, what a controller or its adapter lacks.
func TestLacks(t *testing.T) {
	wrong := strings.Replace(ofSingle, "routes loaded", "synced", 1) + "  pod: other\n"
	for name, test := range map[string]struct {
		role, processes string
		lacks           map[string]string // by point
	}{
		"does not serve":       {single, wrong + "  streams: {tcp: a/b, udp: a/c}\n", map[string]string{"log": "no line"}},
		"is not what it seems": {single, strings.Replace(ofForked, "-W", "nobody", 1), map[string]string{"processes": "does not exist", "connections": "timed out after 10s, waiting until the worker of a connection can be found: ", "log": "no line"}},
		"has another agent":    {single, ofSingle, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // they wait for events that never come
			for point, r := range check(t, test.role, test.processes, 10*time.Second) {
				want, lacks := test.lacks[point]
				if r.OK == lacks || !strings.Contains(r.Found, want) {
					t.Errorf("%s: %t, %s; want %q", point, r.OK, r.Found, want)
				}
			}
		})
	}
}

// Without an essential point, the others are not reached.
func TestCannotStart(t *testing.T) {
	results := check(t, nobody, ofSingle, 3*time.Second)
	if r := results["starts"]; r.OK {
		t.Errorf("it started: %s", r.Found)
	}
	for _, point := range []string{"serves", "restart", "ends", "leaves nothing"} {
		if r := results[point]; r.OK || r.Found != "not reached" {
			t.Errorf("%s: %+v", point, r)
		}
	}
}
