package measure

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

func TestOutage(t *testing.T) {
	rounds := rounds{{Begin: 0, End: 10 * time.Second}, {Begin: 20 * time.Second, End: 30 * time.Second}}
	failed := func(seconds ...int) (events []event.Event) {
		for _, s := range seconds {
			events = append(events, event.Event{At: time.Duration(s) * time.Second, Request: &event.Request{Cause: event.Refused}})
		}
		return events
	}
	served := func(seconds ...int) (events []event.Event) {
		for _, s := range seconds {
			events = append(events, event.Event{At: time.Duration(s) * time.Second, Request: &event.Request{}})
		}
		return events
	}
	for name, test := range map[string]struct {
		events []event.Event
		want   time.Duration
	}{
		"nothing":              {nil, 0},
		"all well":             {served(1, 2, 3), 0},
		"until the next":       {append(served(1, 6), failed(3, 4)...), 3 * time.Second},
		"the longest":          {append(served(1, 3, 9), failed(2, 4, 5)...), 5 * time.Second},
		"to the end":           {append(served(1), failed(7)...), 3 * time.Second},
		"no longer than round": {append(served(22), failed(7)...), 3 * time.Second},
	} {
		m := newOutage(rounds)
		for _, e := range test.events {
			m.Add(&e, true)
		}
		var s Subject
		m.Result(&s, nil)
		if s.Outage != test.want {
			t.Errorf("%s: %v, want %v", name, s.Outage, test.want)
		}
	}
}
