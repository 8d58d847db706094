package measure

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
)

// measurement reduces the events of one subject to its part of the result. It gets events in the
// order of At, including the events of the whole run. in reports whether At is in one of the
// subject's rounds.
type measurement interface {
	Add(e *event.Event, in bool)
	Result(s *Subject, t *Timeline)
}

// measurements lists all measurements. A measurement may read what earlier ones have written into
// the subject. validity reads everything.
var measurements = []func(rounds) measurement{
	newConverge,
	newProbes,
	newReloads,
	newReported,
	newFaults,
	newWorkers,
	newGenerations,
	newRequests,
	newDeparted,
	newCertificates,
	newSyncs,
	newLegs,
	newReviews,
	newOutage,
	newStarts,
	newPodSockets,
	newLauncher,
	newBalance,
	newMemory,
	newHeap,
	newDictionaries,
	newTrends,
	newCPU,
	newBins,
	newLayers,
	newHeat,
	newMoments,
	newTrouble,
	newNotApplicable,
	newClocks,
	newValidity,
}

// From measures a run. It reads the log once, keeps its events in memory and sorts them by At. The
// order of the lines has no meaning, because a request is logged when it ends, and writers race. It
// returns an error if this version cannot measure the log.
func From(log iter.Seq2[event.Event, error]) (Result, Series, error) {
	run, bySubject, err := collect(log)
	if err != nil {
		return Result{}, Series{}, err
	}
	result := Result{Schema: Schema, Run: run}
	var series Series
	for _, name := range names(run, bySubject) {
		events := inOrder(bySubject[name], bySubject[""])
		rounds, err := roundsOf(events)
		if err != nil {
			return Result{}, Series{}, fmt.Errorf("event log, subject %q: %w", name, err)
		}
		s := Subject{Name: name, Rounds: len(rounds), Measured: rounds.total()}
		t := Timeline{Name: name, Rounds: rounds}
		reduce(events, rounds, &s, &t)
		result.Subjects = append(result.Subjects, s)
		series.Subjects = append(series.Subjects, t)
	}
	result.Cut = slices.ContainsFunc(result.Subjects, func(s Subject) bool { return slices.Contains(s.Invalid, wasCut) })
	return result, series, nil
}

func reduce(events []*event.Event, rounds rounds, s *Subject, t *Timeline) {
	reducers := make([]measurement, len(measurements))
	for i, begin := range measurements {
		reducers[i] = begin(rounds)
	}
	for _, e := range events {
		in := rounds.at(e.At) >= 0
		for _, r := range reducers {
			r.Add(e, in)
		}
	}
	for _, r := range reducers {
		r.Result(s, t)
	}
}

// collect reads the log to its end and groups the events by subject.
func collect(log iter.Seq2[event.Event, error]) (event.Run, map[string][]*event.Event, error) {
	var run *event.Run
	bySubject := map[string][]*event.Event{}
	n := 0
	for e, err := range log {
		if err != nil {
			return event.Run{}, nil, err
		}
		n++
		if e.At < 0 {
			return event.Run{}, nil, fmt.Errorf("event log, event %d: at is %d, before the start of the run", n, e.At)
		}
		if e.Run != nil {
			if run != nil {
				return event.Run{}, nil, fmt.Errorf("event log, event %d: a second run begins; a log holds one", n)
			}
			run = e.Run
		}
		bySubject[e.Subject] = append(bySubject[e.Subject], &e)
	}
	switch {
	case run == nil:
		return event.Run{}, nil, fmt.Errorf("event log: no run event among %s; is it an event log?", plural.Of(n, "event"))
	case run.Schema != event.Schema:
		return event.Run{}, nil, fmt.Errorf("event log: its schema is %q, this version reads %q", run.Schema, event.Schema)
	}
	return *run, bySubject, nil
}

// names returns the subjects in the order of the scenario, followed by those that the scenario does
// not name.
func names(run event.Run, bySubject map[string][]*event.Event) []string {
	var all []string
	for _, name := range run.Subjects {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	var unnamed []string
	for name := range bySubject {
		if name != "" && !slices.Contains(all, name) {
			unnamed = append(unnamed, name)
		}
	}
	slices.Sort(unnamed)
	return append(all, unnamed...)
}

// inOrder returns the events of a subject and of the whole run in the order of At. At equal times,
// actions come before observations. Measurements do not depend on a finer order.
func inOrder(own, common []*event.Event) []*event.Event {
	events := slices.Concat(own, common)
	slices.SortStableFunc(events, func(a, b *event.Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(sortRank(a), sortRank(b)), cmp.Compare(generationOf(a), generationOf(b)))
	})
	return events
}

func sortRank(e *event.Event) int {
	switch {
	case e.Phase != nil:
		return phaseRank[e.Phase.Name]
	case e.Change != nil:
		return 10
	case e.Worker != nil:
		return 20 + stateRank[e.Worker.State]
	}
	return 30
}

func generationOf(e *event.Event) int {
	if e.Worker == nil {
		return 0
	}
	return e.Worker.Generation
}

var (
	phaseRank = map[event.PhaseName]int{event.Ready: 0, event.RoundEnd: 1, event.RoundBegin: 2, event.ChurnEnd: 3, event.Cut: 4, event.Stopped: 5}
	stateRank = map[event.WorkerState]int{event.Active: 0, event.Draining: 1, event.Exited: 2}
)
