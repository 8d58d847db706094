package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
)

// The progress counts changes and requests, and reports each trouble once.
func TestProgress(t *testing.T) {
	p := &progress{}
	for _, e := range []event.Event{
		{Change: &event.Change{}}, {Request: &event.Request{}}, {Request: &event.Request{Cause: event.Timeout}},
		{Request: &event.Request{Cause: event.OurCancel}}, {Trouble: &event.Trouble{What: "the API", Detail: "gone"}},
	} {
		p.see(e)
	}
	want := Progress{Took: time.Second, Changes: 1, Requests: 2, Failed: 1, Trouble: "the API: gone"}
	if diff := cmp.Diff(want, p.now(time.Second)); diff != "" {
		t.Error(diff)
	}
	want.Trouble = ""
	if diff := cmp.Diff(want, p.now(time.Second)); diff != "" {
		t.Error(diff)
	}
}
