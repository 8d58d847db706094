package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
)

// two is the beginning of a scenario with two subjects; tests append the rest of its spec.
const two = `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  subjects: [{name: a}, {name: b}]
  population: {services: 2}
`

// forever is a timeline that is longer than any test.
const forever = `
  timeline:
  - {at: 0s, churn: rolling-update, rate: 5/s, for: 1h}
`

// Subjects start together and take turns, in the opposite order each time; the phases of a
// round are in order.
func TestSubjectsTakeTurns(t *testing.T) {
	s := &stage{t: t}
	events, err := s.play(two+`
  rounds: 3
  timeline:
  - {at: 0s, churn: touch, rate: 10/s, for: 600ms}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := phases(events)
	slices.Sort(got[:2])          // both become ready, in either order
	slices.Sort(got[len(got)-2:]) // and are stopped
	want := []string{"a ready 0", "b ready 0"}
	for round, turns := range []string{"ab", "ba", "ab"} {
		for _, subject := range turns {
			for _, phase := range []event.PhaseName{event.RoundBegin, event.ChurnEnd, event.RoundEnd} {
				want = append(want, fmt.Sprintf("%c %s %d", subject, phase, round+1))
			}
		}
	}
	want = append(want, "a stopped 0", "b stopped 0")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	if events[0].Run == nil || !slices.Equal(events[0].Run.Subjects, []string{"a", "b"}) || events[0].Run.Driver != "stage" {
		t.Errorf("the log begins with %+v", events[0])
	}
	if diff := cmp.Diff(map[string]string{"a": "registry.example/a", "b": "registry.example/b"}, events[0].Run.Images); diff != "" {
		t.Errorf("the images of the subjects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "/bin/a", "b": "/bin/b"}, events[0].Run.Programs); diff != "" {
		t.Errorf("the programs of the subjects (-want +got):\n%s", diff)
	}
	made := map[string]int{}
	for _, e := range events {
		if e.Change != nil {
			made[e.Subject]++
		}
	}
	if made["a"] != 6 || made["b"] != 6 {
		t.Errorf("changes %v, want all six changes of the timeline for each subject", made)
	}
}

// After an interrupt the log is complete until then, and says that the run was cut.
func TestInterruptKeepsTheLog(t *testing.T) {
	s := &stage{t: t}
	events, err := s.play(two+forever, func(e event.Event, interrupt context.CancelCauseFunc) {
		if e.Change != nil {
			interrupt(errInterrupt)
		}
	})
	if !errors.Is(err, errInterrupt) {
		t.Errorf("error %v", err)
	}
	result, _, err := measure.From(measuretest.Seq(events))
	if err != nil {
		t.Fatal(err)
	}
	if a := result.Subjects[0]; !result.Cut || a.Valid || a.Rounds != 1 || a.Changes.Made == 0 {
		t.Errorf("cut %v, subject a: valid %v, %d rounds, changes %+v", result.Cut, a.Valid, a.Rounds, a.Changes)
	}
	if b := result.Subjects[1]; b.Rounds != 0 {
		t.Errorf("subject b had %d rounds", b.Rounds)
	}
}

// A subject that dies ends the run, even in the turn of another subject. The error and the log
// contain its last output.
func TestDyingSubjectEndsTheRun(t *testing.T) {
	s := &stage{t: t}
	events, err := s.play(two+forever, func(e event.Event, _ context.CancelCauseFunc) {
		if begins(e, "a", 1) {
			go s.actors[1].end()
		}
	})
	if err == nil || !strings.Contains(err.Error(), "the controller of subject b: signal: killed: its last words") {
		t.Errorf("error %v", err)
	}
	told := slices.ContainsFunc(events, func(e event.Event) bool {
		return e.Subject == "b" && e.Trouble != nil && strings.Contains(e.Trouble.Detail, "its last words")
	})
	if !told || !slices.Contains(phases(events), " cut 0") {
		t.Errorf("trouble logged: %v; phases %q", told, phases(events))
	}
}

// A run ends if its log cannot be written: the rest would be useless, and might take hours.
func TestFullDiskEndsTheRun(t *testing.T) {
	s := &stage{t: t}
	_, err := s.play(two+forever, func(e event.Event, _ context.CancelCauseFunc) {
		if begins(e, "a", 1) {
			s.disk.full.Store(true)
		}
	})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the event log cannot be written") {
		t.Errorf("error %v", err)
	}
}

// If the log fails before the population is loaded, the error names only that, not its consequences.
func TestFullDiskAtTheBeginning(t *testing.T) {
	s := &stage{t: t}
	s.disk.full.Store(true)
	_, err := s.play(two+forever, nil)
	if want := "the event log cannot be written: " + syscall.ENOSPC.Error(); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

const killing = `
  timeline:
  - {at: 0s, fault: controller-kill}
  - {at: 0s, churn: rolling-update, rate: 5/s, for: 1h}
`

// In a scenario that kills controllers, they are restarted.
func TestKilledControllersAreRestarted(t *testing.T) {
	s := &stage{t: t}
	var again *event.Start
	_, err := s.play(two+killing, func(e event.Event, interrupt context.CancelCauseFunc) {
		if e.Start != nil && e.Start.Again {
			again = e.Start
			interrupt(errInterrupt)
		}
	})
	if !errors.Is(err, errInterrupt) || again == nil {
		t.Fatalf("error %v, start %+v", err, again)
	}
	if again.Asked == 0 || again.Unserved != 0 || again.Served < again.Healthy {
		t.Errorf("got %+v", again)
	}
	if s.actors[0].revived != 1 || s.actors[1].revived != 0 {
		t.Errorf("revived %d and %d times", s.actors[0].revived, s.actors[1].revived)
	}
}

func TestRestartFails(t *testing.T) {
	s := &stage{t: t, unrevived: map[string]error{"a": errors.New("it has had enough")}}
	if _, err := s.play(two+killing, nil); err == nil || !strings.Contains(err.Error(), "it has had enough") {
		t.Errorf("error %v", err)
	}
}

// A controller that is started again when the run ends has started, or failed to, before its subject is
// stopped: nothing starts later.
func TestRunEndsDuringARestart(t *testing.T) {
	restarting := make(chan struct{})
	s := &stage{t: t, revive: func(ctx context.Context, a *actor) {
		close(restarting)
		<-ctx.Done()
		select {
		case <-a.stopping:
			t.Error("the subject is stopped while its controller starts")
		case <-time.After(200 * time.Millisecond):
		}
	}}
	_, err := s.play(two+killing, func(e event.Event, interrupt context.CancelCauseFunc) {
		if begins(e, "a", 1) {
			go func() { <-restarting; interrupt(errInterrupt) }()
		}
	})
	if !errors.Is(err, errInterrupt) {
		t.Errorf("error %v", err)
	}
}

// The settle time after the last change ends: a change that was never served is a
// result, and the run continues.
func TestSettleTimeEnds(t *testing.T) {
	s := &stage{t: t}
	events, err := s.play(two+`
  settle: 50ms
  timeline:
  - {at: 0s, churn: rolling-update, rate: 10/s, for: 100ms}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := measure.From(measuretest.Seq(events))
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range result.Subjects {
		if subject.Changes.Made != 1 || subject.Changes.Unconverged != 1 || subject.Rounds != 1 {
			t.Errorf("%s: %d rounds, changes %+v", subject.Name, subject.Rounds, subject.Changes)
		}
	}
}

// A round ends as soon as every change is served.
func TestRoundEndsWhenSettled(t *testing.T) {
	s := &stage{t: t}
	if _, err := s.play(two+`
  settle: 24h
  timeline:
  - {at: 0s, churn: touch, rate: 10/s, for: 100ms}
`, nil); err != nil {
		t.Error(err)
	}
}

// If one subject cannot start, the run does not begin, and nothing of the others remains.
func TestSubjectCannotStart(t *testing.T) {
	broken := map[string]error{"b": errors.New("no room for it")}
	for name, s := range map[string]*stage{
		"prepared": {t: t, unprepared: broken},
		"launched": {t: t, unlaunched: broken},
	} {
		events, err := s.play(two+forever, nil)
		if err == nil || !strings.Contains(err.Error(), "no room for it") {
			t.Errorf("cannot be %s: error %v", name, err)
		}
		if slices.ContainsFunc(events, func(e event.Event) bool { return begins(e, "a", 1) }) {
			t.Errorf("cannot be %s: a round began", name)
		}
	}
}

// A fault ends at the latest with its round, and the log says what it struck
// before the next round begins.
func TestFaultsEndWithTheirRound(t *testing.T) {
	s := &stage{t: t}
	events, err := s.play(two+`
  settle: 50ms
  timeline:
  - {at: 0s, fault: readiness-late, for: 1h}
  - {at: 0s, churn: rolling-update, rate: 20/s, for: 200ms}
`, nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, e := range events {
		if e.Fault != nil {
			told = append(told, fmt.Sprintf("%s healed=%t %+v", e.Subject, e.Fault.Healed, e.Fault.Struck))
		}
	}
	want := []string{"a healed=false <nil>", "a healed=true &{Count:4 Of:pods}", "b healed=false <nil>", "b healed=true &{Count:4 Of:pods}"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("faults (-want +got):\n%s", diff)
	}
}
