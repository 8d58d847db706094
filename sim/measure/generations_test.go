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

// Each new process of HAProxy tells all draining ones to finish. The signal may come when such a process
// has just finished.
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

// A worker that the watch first took for the generation before counts once, in its own generation.
func TestWorkerJoinsItsGeneration(t *testing.T) {
	worker := func(at time.Duration, pid, generation int, state event.WorkerState) event.Event {
		return event.Event{At: at, Worker: &event.Worker{PID: pid, Master: 1, Generation: generation, State: state}}
	}
	history := measureRound(t,
		worker(1, 7, 1, event.Active), worker(2, 8, 2, event.Active), worker(3, 7, 2, event.Active),
		worker(4, 7, 2, event.Draining), worker(5, 7, 2, event.Exited), worker(6, 8, 2, event.Exited),
	).Workers.History
	if len(history) != 1 || history[0].Generation != 2 || history[0].Workers != 2 || history[0].Began != 1 || history[0].Ended != 6 {
		t.Errorf("generations %+v, want the second with two workers", history)
	}
}
