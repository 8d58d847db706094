package measure

import (
	"slices"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// drained returns the events of a generation of two workers that begins to drain at a time. The first
// worker ends 1.5 s later and the second 3.5 s later; connections are sampled at 0.1 s and 2.2 s, and
// before that once when the second worker does not drain yet.
func drained(at time.Duration, master int) []event.Event {
	worker := func(after time.Duration, pid int, state event.WorkerState, exit *event.Exit) event.Event {
		return event.Event{At: at + after, Worker: &event.Worker{PID: pid, Master: master, Generation: 1, State: state, Exit: exit}}
	}
	held := func(after time.Duration, workers, draining, clients, pods int) event.Event {
		return event.Event{At: at + after, Usage: &event.Usage{ByGeneration: []event.Generation{{
			Master: master, Generation: 1, Workers: workers, Draining: draining, Held: &event.Connections{Clients: clients, Pods: pods},
		}}}}
	}
	a, b := 10*master, 10*master+1
	return []event.Event{
		worker(-time.Millisecond, a, event.Active, nil), worker(-time.Millisecond, b, event.Active, nil),
		worker(0, a, event.Draining, nil), held(time.Millisecond, 2, 1, 4, 3), worker(10*time.Millisecond, b, event.Draining, nil), held(100*time.Millisecond, 2, 2, 8, 6),
		worker(1500*time.Millisecond, a, event.Exited, &event.Exit{}), held(2200*time.Millisecond, 1, 1, 3, 2),
		worker(3500*time.Millisecond, b, event.Exited, &event.Exit{}),
	}
}

func TestLeft(t *testing.T) {
	left := measureRound(t, drained(5*time.Second, 1)...).Workers.Left
	at := func(seconds int, workers, clients, pods float64) Left {
		return Left{After: time.Duration(seconds) * time.Second, Generations: 1, Workers: workers, Clients: clients, Pods: pods}
	}
	want := []Left{at(0, 2, 8, 6), at(1, 2, 8, 6), at(2, 1, 8, 6), at(3, 1, 3, 2), at(4, 0, 0, 0)}
	if !slices.Equal(left, want) {
		t.Errorf("%+v", left)
	}
}

// The points are means over the generations that were seen so long: the second one for a second.
func TestLeftUntilTheEnd(t *testing.T) {
	late := drained(time.Minute-1300*time.Millisecond, 2)[:6]
	left := measureRound(t, append(drained(5*time.Second, 1), late...)...).Workers.Left
	if len(left) != 5 || left[1].Generations != 2 || left[2].Generations != 1 || left[1].Workers != 2 || left[2].Workers != 1 {
		t.Errorf("%+v", left)
	}
}

// If generations still drain at the end, the curve ends there.
func TestLeftIsCut(t *testing.T) {
	left := measureRound(t, drained(time.Minute-2500*time.Millisecond, 1)[:7]...).Workers.Left
	if len(left) != 3 || left[2].Clients != 8 || left[2].Workers != 1 {
		t.Errorf("%+v", left)
	}
}

// Without a generation that drains, there is no curve.
func TestNothingDrains(t *testing.T) {
	if left := measureRound(t, event.Event{At: 1, Worker: &event.Worker{PID: 1, Master: 1, Generation: 1, State: event.Active}}).Workers.Left; left != nil {
		t.Errorf("%+v", left)
	}
}
