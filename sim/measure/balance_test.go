package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
)

func TestBalance(t *testing.T) {
	m := newBalance(nil)
	pod := func(service, name string) { m.Add(&event.Event{Pod: &event.Pod{Service: service, Name: name}}, false) }
	answered := func(service, name string, times int) {
		for range times {
			m.Add(&event.Event{Request: &event.Request{Served: service, Pod: name}}, true)
		}
	}
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		pod("a", name)
	}
	answered("a", "a1", 30)
	answered("a", "a2", 20)
	answered("a", "a3", 10)
	pod("few", "f1")
	pod("few", "f2")
	answered("few", "f1", 19)
	pod("moved", "m1")
	pod("moved", "m2")
	answered("moved", "m1", 1000)
	m.Add(&event.Event{Change: &event.Change{Service: "moved", Removed: []string{"m2"}}}, true)
	pod("alone", "p1")
	answered("alone", "p1", 1000)
	answered("", "", 100)

	var s Subject
	m.Result(&s, nil)
	if diff := cmp.Diff(Balance{Services: 1, Hottest: 2, Idle: 1}, s.Balance); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
