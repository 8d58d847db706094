// Package step performs what a scenario's timeline says on a subject's
// cluster, one file a kind of step. It stands between the scenario and the
// Kubernetes API. Its one rule: a change is stamped and told to the probes
// before it is written, never after.
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

// Beat is one moment of a timeline. The same beats are played for every
// subject.
type Beat struct {
	At time.Duration
	Do func(context.Context, *Cluster) error
}

// kinds are the kinds of step, by the key that a scenario file uses. Each
// says which beats a step is made of; the numbers of its changes begin at next,
// and it returns the number after its last.
var kinds = []struct {
	asked func(scenario.Step) bool
	beats func(s scenario.Step, in setting, next int) ([]Beat, int)
}{
	{func(s scenario.Step) bool { return streams[s.Churn] != nil }, churned},
	{func(s scenario.Step) bool { return s.Churn == scenario.Recorded }, recorded},
	{func(s scenario.Step) bool { return s.Churn == scenario.CertificateRotation }, certificateRotation},
	{func(s scenario.Step) bool { return s.Apply != "" }, apply},
	{func(s scenario.Step) bool { return s.Delete != "" }, remove},
	{func(s scenario.Step) bool { return s.Fault != "" }, strike},
}

// setting is what all steps of a scenario share.
type setting struct {
	scenario   *scenario.Scenario
	population corpus.Population
	recorded   churn.Stream
	seed       uint64
}

// Beats are the beats of the whole timeline over a population, and over what was
// recorded of it if it was, by time. Changes are numbered from 1 in the order of the
// steps in the file.
func Beats(s *scenario.Scenario, of churn.Recording, seed uint64) ([]Beat, error) {
	in := setting{scenario: s, population: of.Population, recorded: of.Stream, seed: seed}
	var all []Beat
	next := 1
	for _, step := range s.Timeline {
		performed := false
		for _, kind := range kinds {
			if kind.asked(step) {
				var beats []Beat
				beats, next = kind.beats(step, in, next)
				all = append(all, beats...)
				performed = true
			}
		}
		if !performed {
			return nil, fmt.Errorf("%s:%d: nothing here knows how to perform this step", s.File, step.Line)
		}
	}
	slices.SortStableFunc(all, func(a, b Beat) int { return int(a.At - b.At) })
	return all, nil
}

// Deal deals beats out over so many rounds, each of the same stretch of the
// timeline, in time order; the times are from the beginning of the round. A
// beat at the very end belongs to the last round.
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
