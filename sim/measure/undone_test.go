package measure_test

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
)

// A later change that undoes an earlier one decides what workers answer from then on: these answers
// say nothing about the earlier change.
func TestAnswersAfterAChangeIsUndone(t *testing.T) {
	const ms = time.Millisecond
	answer := func(at time.Duration, pod string, status int) event.Event {
		return event.Event{At: at, Answer: &event.Answer{Worker: 7, Change: 1, Pod: pod, Status: status}}
	}
	for name, test := range map[string]struct {
		change, undo event.Change
		answers      []event.Event
	}{
		"a status": {
			event.Change{Confirmation: &event.Confirmation{Status: 403}}, event.Change{Confirmation: &event.Confirmation{Status: 429}},
			[]event.Event{answer(110*ms, "", 200), answer(120*ms, "", 403), answer(140*ms, "", 429)},
		},
		"pods": {
			event.Change{Added: []string{"new"}, Removed: []string{"old"}}, event.Change{Added: []string{"old"}, Removed: []string{"new"}},
			[]event.Event{answer(110*ms, "old", 200), answer(120*ms, "new", 200), answer(140*ms, "old", 200)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.change.ID, test.undo.ID = 1, 2
			test.change.Host, test.undo.Host = "a.example", "a.example"
			events := append([]event.Event{
				{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
				{Worker: &event.Worker{PID: 7, Master: 1, Generation: 1, State: event.Active}},
				{At: 50 * ms, Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
				{At: 100 * ms, Change: &test.change},
				{At: 130 * ms, Change: &test.undo},
				{At: 300 * ms, Phase: &event.Phase{Name: event.RoundEnd, Round: 1}},
			}, test.answers...)
			for i := range events[1:] {
				events[i+1].Subject = "it"
			}
			result, series, err := measure.From(measuretest.Seq(events))
			if err != nil {
				t.Fatal(err)
			}
			if got := series.Subjects[0].Changes[0]; got.Fate != measure.Converged || got.Last != 20*ms || got.Flaps != 0 {
				t.Errorf("got %+v, want it served after 20ms without flaps", got)
			}
			if got := result.Subjects[0].Converge; got.Between.Max != 0 || got.Flaps != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}
