package measure

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"windtunnel.dev/sim/event"
)

// Faults that strike count until they are healed or their round ends; failed faults do not count.
func TestFaults(t *testing.T) {
	m := newFaults(rounds{{Begin: 0, End: 10 * time.Second}})
	for _, e := range []struct {
		second int
		fault  event.Fault
	}{
		{1, event.Fault{Name: "config-tests"}},
		{2, event.Fault{Name: "worker-kill"}},
		{2, event.Fault{Name: "worker-kill", Healed: true}},
		{3, event.Fault{Name: "worker-kill"}},
		{3, event.Fault{Name: "worker-kill", Failed: true}},
		{4, event.Fault{Name: "config-tests", Healed: true}},
		{5, event.Fault{Name: "api-429"}},
	} {
		m.Add(&event.Event{At: time.Duration(e.second) * time.Second, Fault: &e.fault}, true)
	}
	var s Subject
	var l Timeline
	m.Result(&s, &l)
	want := []Broken{
		{Name: "config-tests", From: 1 * time.Second, Until: 4 * time.Second},
		{Name: "worker-kill", From: 2 * time.Second, Until: 2 * time.Second},
		{Name: "api-429", From: 5 * time.Second, Until: 10 * time.Second},
	}
	if diff := cmp.Diff(want, l.Faults, cmpopts.IgnoreUnexported(Broken{})); diff != "" || s.Faults != len(want) {
		t.Errorf("%d faults (-want +got):\n%s", s.Faults, diff)
	}
}
