package step_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
)

// victim has no processes to kill, and records the delay of its pods.
type victim struct {
	fault.Unable
	late []time.Duration
}

func (v *victim) DelayReadiness(by time.Duration) (pods int) {
	v.late = append(v.late, by)
	return len(v.late)
}

const faults = `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: faults}
spec:
  population: {services: 2, pods: 2}
  timeline:
  - {at: 0s, fault: workers-kill}
  - {at: 1s, fault: readiness-late, for: 1h}
  - {at: 3601s, fault: readiness-late, for: 1h}
`

// A failed fault is logged as failed, and the timeline continues. A fault is healed before it
// strikes again, and when the round ends.
func TestFaults(t *testing.T) {
	s := newStageOf(t, faults, "127.63.0.0/16")
	v := &victim{}
	s.cluster.Victim = v
	for _, task := range s.tasks {
		if err := task.Do(t.Context(), s.cluster); err != nil {
			t.Fatal(err)
		}
	}
	s.cluster.Heal()
	if diff := cmp.Diff([]time.Duration{2 * time.Second, 0, 2 * time.Second, 0}, v.late); diff != "" {
		t.Errorf("late (-want +got):\n%s", diff)
	}
	var logged []event.Fault
	troubles := 0
	for _, e := range s.events(t) {
		if e.Fault != nil {
			logged = append(logged, *e.Fault)
		}
		if e.Trouble != nil {
			troubles++
		}
	}
	want := []event.Fault{
		{Name: "workers-kill"}, {Name: "workers-kill", Failed: true, Absent: true},
		{Name: "readiness-late"}, {Name: "readiness-late", Healed: true, Struck: &event.Struck{Count: 2, Of: "pods"}},
		{Name: "readiness-late"}, {Name: "readiness-late", Healed: true, Struck: &event.Struck{Count: 4, Of: "pods"}},
	}
	if diff := cmp.Diff(want, logged); diff != "" || troubles != 1 {
		t.Errorf("%d troubles; faults (-want +got):\n%s", troubles, diff)
	}
}
