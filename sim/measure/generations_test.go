package measure

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure/measuretest"
)

// measureRound measures one round of a subject, in which these events happen.
func measureRound(t *testing.T, events ...event.Event) Subject {
	t.Helper()
	all := []event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
		{Subject: "it", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
	}
	for _, e := range events {
		e.Subject = "it"
		all = append(all, e)
	}
	all = append(all, event.Event{At: time.Minute, Subject: "it", Phase: &event.Phase{Name: event.RoundEnd, Round: 1}})
	result, _, err := From(measuretest.Seq(all))
	if err != nil {
		t.Fatal(err)
	}
	return result.Subjects[0]
}

// HAProxy tells a draining process to finish as often as a newer one starts. The signal may come when
// it has just finished.
func TestFinishingBySignal(t *testing.T) {
	worker := func(at time.Duration, state event.WorkerState, exit *event.Exit) event.Event {
		return event.Event{At: at, Worker: &event.Worker{PID: 7, Master: 1, Generation: 1, State: state, Exit: exit}}
	}
	for signal, crashed := range map[string]int{"SIGUSR1": 0, "SIGSEGV": 1} {
		drained := measureRound(t,
			worker(1, event.Active, nil), worker(2, event.Draining, nil), worker(3, event.Exited, &event.Exit{Signal: signal}))
		if drained.Workers.Exited != 1 || drained.Workers.Crashed != crashed {
			t.Errorf("%s while it drains: %+v", signal, drained.Workers)
		}
		active := measureRound(t, worker(1, event.Active, nil), worker(3, event.Exited, &event.Exit{Signal: signal}))
		if active.Workers.Crashed != 1 {
			t.Errorf("%s while it serves: %+v", signal, active.Workers)
		}
	}
}
