package watch_test

import (
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/watch"
)

// At all times, the status shows the stage of the run and what it waits for.
func TestStatusSaysWhatTheRunWaitsFor(t *testing.T) {
	run := watch.Of(&scenario.Scenario{Spec: scenario.Spec{
		Rounds: 1, Settle: 20 * time.Second, Subjects: []scenario.Subject{{Name: "a"}, {Name: "b"}},
		Timeline: []scenario.Step{{Churn: scenario.RollingUpdate, For: time.Hour}},
	}})
	at := time.Duration(0)
	see := func(e event.Event) { at++; e.At = at; run.See(e) }
	phase := func(subject string, name event.PhaseName) event.Event {
		return event.Event{Subject: subject, Phase: &event.Phase{Name: name, Round: 1}}
	}
	for _, step := range []struct {
		name         string
		events       []event.Event
		stage        watch.Stage
		waits        string
		phaseA       string
		phaseB       string
		turn         int
		changesOfA   int
		failedOfB    int
		failedCauseB event.Cause
	}{
		{name: "begin", stage: watch.Starting, waits: "waits until a and b serve every host of the population", phaseA: "starting", phaseB: "starting"},
		{name: "a is ready", events: []event.Event{phase("a", event.Ready)},
			stage: watch.Starting, waits: "waits until b serves every host of the population", phaseA: "waiting", phaseB: "starting"},
		{name: "both are ready", events: []event.Event{phase("b", event.Ready)},
			stage: watch.Starting, waits: "waits for the first turn", phaseA: "waiting", phaseB: "waiting"},
		{name: "turn of a", events: []event.Event{phase("a", event.RoundBegin), {Subject: "a", Change: &event.Change{ID: 1, Added: []string{"pod"}, Host: "h"}}},
			stage: watch.Changing, waits: "waits for the end of the timeline, in 1h0m0s", phaseA: "changing 1/1", phaseB: "waiting", turn: 1, changesOfA: 1},
		{name: "settling", events: []event.Event{phase("a", event.ChurnEnd)},
			stage: watch.Settling, waits: "waits until every worker serves 1 more change, at most 20s", phaseA: "settling 1/1", phaseB: "waiting", turn: 1, changesOfA: 1},
		{name: "between turns", events: []event.Event{phase("a", event.RoundEnd)},
			stage: watch.Resting, waits: "waits for the requests that are still open", phaseA: "resting", phaseB: "waiting", turn: 1, changesOfA: 1},
		{name: "turn of b", events: []event.Event{phase("b", event.RoundBegin), {Subject: "b", Request: &event.Request{Lane: "post", Cause: event.Reset}}},
			stage: watch.Changing, waits: "waits for the end of the timeline", phaseA: "done", phaseB: "changing 1/1", turn: 2, changesOfA: 1, failedOfB: 1, failedCauseB: event.Reset},
		{name: "settled", events: []event.Event{phase("b", event.ChurnEnd)},
			stage: watch.Settling, waits: "waits until the probes have observed the last change, at most 20s", phaseA: "done", phaseB: "settling 1/1", turn: 2, changesOfA: 1, failedOfB: 1, failedCauseB: event.Reset},
		{name: "the end", events: []event.Event{phase("b", event.RoundEnd), phase("a", event.Stopped)},
			stage: watch.Stopping, waits: "waits until b has ended", phaseA: "stopped", phaseB: "stopping", turn: 2, changesOfA: 1, failedOfB: 1, failedCauseB: event.Reset},
		{name: "cut short", events: []event.Event{{Phase: &event.Phase{Name: event.Cut}}},
			stage: watch.Stopping, waits: "was cut short, and waits until b has ended", phaseA: "stopped", phaseB: "stopping", turn: 2, changesOfA: 1, failedOfB: 1, failedCauseB: event.Reset},
	} {
		t.Run(step.name, func(t *testing.T) {
			for _, e := range step.events {
				see(e)
			}
			s := run.Status()
			if s.Stage != step.stage || !strings.HasPrefix(s.Waits, step.waits) || s.Turn != step.turn || s.Turns != 2 {
				t.Errorf("turn %d of %d, %s: %q, want turn %d, %s: %q", s.Turn, s.Turns, s.Stage, s.Waits, step.turn, step.stage, step.waits)
			}
			a, b := s.Subjects[0], s.Subjects[1]
			if a.Phase != step.phaseA || b.Phase != step.phaseB {
				t.Errorf("phases %q and %q, want %q and %q", a.Phase, b.Phase, step.phaseA, step.phaseB)
			}
			if a.Changes != step.changesOfA || b.Failed != step.failedOfB || b.Causes[string(step.failedCauseB)] != step.failedOfB {
				t.Errorf("counts %+v and %+v", a.Progress, b.Progress)
			}
		})
	}
	run.End()
	if s := run.Status(); s.Stage != watch.Measuring || s.Waits != "waits for the report" {
		t.Errorf("after the end: %s, %q", s.Stage, s.Waits)
	}
}
