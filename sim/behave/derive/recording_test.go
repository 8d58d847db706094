package derive_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
)

// The bodies in the records of a large cluster add up to gigabytes.
func TestRecordingKeepsNoRecords(t *testing.T) {
	recording, err := derive.NewRecording([]*derive.Case{derived(t, shop)}, "cases", behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	kept := add(recording, derived(t, shop))
	if recording.Case(0) == nil {
		t.Fatal("the case is not recorded")
	}
	for end := time.Now().Add(10 * time.Second); kept.Value() != nil; runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("the recording keeps the bodies of what pods received")
		}
	}
	runtime.KeepAlive(recording)
}

// add adds answers to a recording, and returns the body that all pods received.
func add(recording *derive.Recording, c *derive.Case) weak.Pointer[byte] {
	records := answers(c, 1, alternate)
	body := make([]byte, 1<<20)
	for _, r := range records {
		for _, e := range r.Exchanges {
			for n := range e.Received {
				e.Received[n].Body = body
			}
		}
	}
	recording.Add(recording.Asked()[0], records)
	return weak.Make(&body[0])
}
