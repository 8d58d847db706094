package kubeapi

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/kubeapi/fault"
)

func breakable(o *Options) { o.Broken = true }

func TestBrokenFaultsNeedTheOption(t *testing.T) {
	r := newRig(t)
	for _, f := range []fault.Fault{fault.DroppedEvents(), fault.DuplicatedEvents(), fault.ReorderedEvents()} {
		if _, err := r.s.Inject(f, fault.Scope{}); err == nil || !strings.Contains(err.Error(), "Options.Broken") {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// An informer does not notice a dropped event until it lists again.
func TestBrokenDrop(t *testing.T) {
	t.Parallel()
	r := newRig(t, breakable)
	r.follow()
	r.inject(fault.DroppedEvents(), fault.Scope{Count: 1})
	r.create("dropped")
	r.hit("broken-drop")
	r.create("next")
	r.sees("next")
	if _, ok, _ := r.informer.GetStore().GetByKey("default/dropped"); ok {
		t.Error("the event was not dropped")
	}
	r.asked("") // the informer sent no request, because it did not notice the loss
	r.inject(fault.ErrorEvent(500), fault.Scope{Count: 1})
	r.settled()
	r.asked("WATCHLIST")
}

// Duplicated or reordered events lead to the right state in this test.
func TestBrokenOrder(t *testing.T) {
	for _, f := range []fault.Fault{fault.DuplicatedEvents(), fault.ReorderedEvents()} {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, breakable)
			r.follow()
			stop := r.inject(fault.StalledWatch(), fault.Scope{})
			r.hit("stalled-watch")
			r.inject(f, fault.Scope{Count: 1})
			r.create("a", "b") // the events accumulate while the watch is stalled
			stop()
			r.hit(f.Name)
			if f.Name == "broken-reorder" {
				if got := <-r.added; got != "b" {
					t.Errorf("%s came first", got)
				}
			}
			r.sees("a")
			r.settled()
			r.asked("")
		})
	}
}
