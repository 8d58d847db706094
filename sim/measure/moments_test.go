package measure_test

import (
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
)

// lost returns a round of a subject with changes, reloads and failed requests.
func lost(t *testing.T, more ...event.Event) measure.Timeline {
	t.Helper()
	const ms = time.Millisecond
	events := []event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"a"}}},
		{Worker: &event.Worker{PID: 1, Master: 9, Generation: 1, State: event.Active}},
		{At: 1000 * ms, Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
		{At: 1100 * ms, Change: &event.Change{ID: 1, Step: "apply", Object: "Ingress shop/a"}},
		{At: 4000 * ms, Change: &event.Change{ID: 2, Step: "apply", Object: "Ingress shop/b"}},
		{At: 4400 * ms, Worker: &event.Worker{PID: 2, Master: 9, Generation: 2, State: event.Active}},
		{At: 9000 * ms, Change: &event.Change{ID: 3, Step: "apply", Object: "Ingress shop/c"}},
		{At: 20000 * ms, Phase: &event.Phase{Name: event.RoundEnd, Round: 1}},
	}
	events = append(events, more...)
	for i := range events[1:] {
		events[i+1].Subject = "a"
	}
	_, series, err := measure.From(measuretest.Seq(events))
	if err != nil {
		t.Fatal(err)
	}
	return series.Subjects[0]
}

func failedAt(at, took time.Duration, lane string, cause event.Cause) event.Event {
	return event.Event{At: at, Request: &event.Request{Lane: lane, Method: "POST", Host: "a.example", Took: took, Cause: cause}}
}

// Requests that fail shortly after each other are one moment, with what happened shortly before.
func TestMoments(t *testing.T) {
	const ms = time.Millisecond
	got := lost(t,
		failedAt(4450*ms, ms, "post", event.Reset),
		failedAt(4500*ms, ms, "post", event.IdleClose),
		failedAt(4950*ms, ms, "http", event.Reset),
		failedAt(8900*ms, 200*ms, "http", event.Timeout), // ends after the change at 9 s
		failedAt(12000*ms, ms, "http", event.OurCancel),
		failedAt(25000*ms, ms, "http", event.Reset), // after the round
		event.Event{At: 4300 * ms, Fault: &event.Fault{Name: "worker-kill"}},
		event.Event{At: 4460 * ms, Fault: &event.Fault{Name: "worker-kill", Healed: true, Struck: &event.Struck{Count: 1, Of: "workers"}}},
	)
	if len(got.Moments) != 2 || got.OtherMoments != 0 {
		t.Fatalf("got %d moments and %d others, want 2 and none: %+v", len(got.Moments), got.OtherMoments, got.Moments)
	}
	first, second := got.Moments[0], got.Moments[1]
	if first.From != 4450*ms || first.Until != 4950*ms || first.Failed != 3 {
		t.Errorf("the first moment is %v to %v with %d requests", first.From, first.Until, first.Failed)
	}
	if diff := gocmp.Diff(map[string]int{"reset": 2, "idle-close": 1}, first.Causes); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff(map[string]int{"post": 2, "http": 1}, first.Lanes); diff != "" {
		t.Errorf("lanes (-want +got):\n%s", diff)
	}
	if len(first.Changes) != 1 || first.Changes[0].ID != 2 || len(first.Reloads) != 1 || len(first.Faults) != 1 || len(first.Requests) != 3 {
		t.Errorf("around the first moment: %+v", first)
	}
	if len(second.Changes) != 1 || second.Changes[0].ID != 3 || len(second.Reloads)+len(second.Faults) != 0 {
		t.Errorf("around the second moment: %+v", second)
	}
}

// Of many moments, those with the most failed requests are kept, in order of time.
func TestManyMoments(t *testing.T) {
	var failures []event.Event
	for i := range 15 {
		at := time.Duration(2+i) * time.Second
		for n := range 1 + i%5*10 {
			failures = append(failures, failedAt(at+time.Duration(n), 1, "http", event.Reset))
		}
	}
	got := lost(t, failures...)
	if len(got.Moments) != 12 || got.OtherMoments != 3 {
		t.Fatalf("got %d moments and %d others, want 12 and 3", len(got.Moments), got.OtherMoments)
	}
	for i, m := range got.Moments {
		if m.Failed == 1 || len(m.Requests) > 10 || i > 0 && got.Moments[i-1].From >= m.From {
			t.Errorf("moment %d: %d failed, %d listed, from %v", i, m.Failed, len(m.Requests), m.From)
		}
	}
}

// The log around a time is between the marks around it.
func TestLogAround(t *testing.T) {
	timeline := measure.Timeline{Logged: []measure.Logged{{At: 10, Bytes: 0}, {At: 20, Bytes: 100}, {At: 30, Bytes: 250}, {At: 50, Bytes: 300}}}
	for name, test := range map[string]struct {
		from, until time.Duration
		begin, end  int64
		ok          bool
	}{
		"in the middle": {15, 35, 100, 300, true},
		"at marks":      {20, 30, 100, 300, true},
		"all":           {0, 100, 0, -1, true},
		"nothing then":  {31, 49, -1, 300, false},
		"before":        {0, 5, -1, 0, false},
		"after":         {60, 70, -1, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			begin, end, ok := timeline.LogAround(test.from, test.until)
			if ok != test.ok || ok && (begin != test.begin || end != test.end) {
				t.Errorf("%d to %d, %v; want %d to %d, %v", begin, end, ok, test.begin, test.end, test.ok)
			}
		})
	}
}

// What happened until the last request of a moment ended belongs to it, however many requests failed
// before.
func TestMomentsLastUntilTheLastRequestEnds(t *testing.T) {
	const ms = time.Millisecond
	var failures []event.Event
	for i := range 20 {
		failures = append(failures, failedAt(8500*ms+time.Duration(i)*ms, ms, "post", event.Reset))
	}
	failures = append(failures, failedAt(8600*ms, 1000*ms, "post", event.Timeout)) // ends after the change at 9 s
	got := lost(t, failures...)
	if len(got.Moments) != 1 || got.Moments[0].Failed != 21 {
		t.Fatalf("got %+v", got.Moments)
	}
	if changes := got.Moments[0].Changes; len(changes) != 1 || changes[0].ID != 3 {
		t.Errorf("got the changes %+v, want the one at 9 s", changes)
	}
}
