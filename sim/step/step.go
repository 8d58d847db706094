// Package step performs the timeline of a scenario on a subject's cluster, with one file per kind
// of step. It connects the scenario and the Kubernetes API. Its one rule: a change gets its
// timestamp and is reported to the probes before it is written, never after.
package step

import (
	"context"
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/scenario"
)

// Beat is one action of a timeline, with its time. Every subject gets the same beats.
type Beat struct {
	At time.Duration
	Do func(context.Context, *Cluster) error
}

// kinds are the kinds of step. matches reports whether a step is of the kind. beats returns the beats
// of a step and the number after its last change; next is the number of its first change.
var kinds = []struct {
	matches func(scenario.Step) bool
	beats   func(s scenario.Step, in setting, next int) ([]Beat, int)
}{
	{func(s scenario.Step) bool { return streams[s.Churn] != nil }, churned},
	{func(s scenario.Step) bool { return s.Churn == scenario.Recorded }, recorded},
	{func(s scenario.Step) bool { return s.Churn == scenario.CertificateRotation }, certificateRotation},
	{func(s scenario.Step) bool { return s.Apply != "" }, apply},
	{func(s scenario.Step) bool { return s.Delete != "" }, remove},
	{func(s scenario.Step) bool { return s.Fault != "" }, strike},
}

// setting is the data that all steps of a scenario share.
type setting struct {
	scenario   *scenario.Scenario
	population corpus.Population
	recorded   churn.Stream
	seed       uint64
}

// Beats returns the beats of the whole timeline, sorted by time. They act on the population of the
// recording and replay its stream, if it has one. Changes are numbered from 1 in the order of
// s.Timeline.
func Beats(s *scenario.Scenario, of churn.Recording, seed uint64) ([]Beat, error) {
	in := setting{scenario: s, population: of.Population, recorded: of.Stream, seed: seed}
	var all []Beat
	next := 1
	for _, step := range s.Timeline {
		performed := false
		for _, kind := range kinds {
			if kind.matches(step) {
				var beats []Beat
				beats, next = kind.beats(step, in, next)
				all = append(all, beats...)
				performed = true
			}
		}
		if !performed {
			return nil, fmt.Errorf("%s:%d: no kind of step matches this step", s.File, step.Line)
		}
	}
	slices.SortStableFunc(all, func(a, b Beat) int { return int(a.At - b.At) })
	return all, nil
}

// Deal distributes beats over rounds, each of which covers an equal part of the timeline. It keeps
// their order and makes their times relative to the beginning of the round. A beat at the very end
// of the timeline belongs to the last round.
func Deal(beats []Beat, length time.Duration, rounds int) [][]Beat {
	dealt := make([][]Beat, rounds)
	stretch := length / time.Duration(rounds)
	for _, beat := range beats {
		round := rounds - 1
		if stretch > 0 {
			round = min(round, int(beat.At/stretch))
		}
		beat.At -= stretch * time.Duration(round)
		dealt[round] = append(dealt[round], beat)
	}
	return dealt
}
