package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/subject"
)

// nowhere is a driver that can neither kill workers nor, so it turns out, run anything.
type nowhere struct{}

func (nowhere) Name() string { return "nowhere" }

func (nowhere) Lacks(fault string) string {
	if fault == "worker-kill" {
		return "there are no workers"
	}
	return ""
}

func (nowhere) Prepare(context.Context, subject.Subject, driver.Room) (driver.Instance, error) {
	return nil, fmt.Errorf("looking for a place: %w: there is none", fault.ErrNotHere)
}

// What a driver cannot do is neither a failure nor a proof, also where only the
// control asks for it and where only the run shows it.
func TestVerifySkips(t *testing.T) {
	file := filepath.Join(t.TempDir(), "story.yaml")
	if err := os.WriteFile(file, []byte(`
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  population: {services: 1}
  timeline:
  - {at: 0s, churn: touch, rate: 1/s, for: 1s}
  expect: [changes.unconverged == 0]
  control:
    what: a worker is killed
    timeline: [{at: 0s, fault: worker-kill}]
    fails: [changes.unconverged == 0]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := loadScenario(file)
	if err != nil {
		t.Fatal(err)
	}
	for control, why := range map[bool]string{false: "there is none", true: "there are no workers"} {
		one := trial{scenario: s, control: control, dir: filepath.Join(t.TempDir(), "run")}
		if code, note := one.run(t.Context(), nowhere{}, io.Discard); code != exitSkipped || !strings.HasSuffix(note, why) {
			t.Errorf("control %t: code %d, %s", control, code, note)
		}
	}
}

// A control whose fault struck nothing, or could not be made, proves nothing,
// whatever turned red.
func TestControlMustStrike(t *testing.T) {
	for name, test := range map[string]struct {
		struck []measure.Struck
		want   string
	}{
		"no fault":                    {nil, ""},
		"it struck":                   {[]measure.Struck{{Name: "api-5xx", Count: 3, Of: "requests", Times: 2, Missed: 1}}, ""},
		"it struck nothing":           {[]measure.Struck{{Name: "worker-kill", Count: 1, Of: "workers", Times: 1}, {Name: "api-5xx", Of: "requests", Times: 1, Missed: 1}}, "api-5xx"},
		"its subject was never there": {[]measure.Struck{{Name: "api-5xx", Of: "requests", Times: 1, Absent: 1}}, "api-5xx"},
		"it could not be made":        {[]measure.Struck{{Name: "config-torn", Times: 1, Failed: 1}}, "config-torn"},
		"a log from before":           {[]measure.Struck{{Name: "api-5xx", Times: 1, Untold: 1}}, ""},
	} {
		got := unapplied(measure.Result{Subjects: []measure.Subject{{Name: "bundled", Struck: test.struck}}})
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
