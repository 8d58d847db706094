// Package step performs the timeline of a scenario on a subject's cluster, with one file per kind
// of step. It connects the scenario and the Kubernetes API. Its one rule: a change gets its
// timestamp and is reported to the probes before it is written, never after.
package step

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/scenario"
)

// Task is one action of a timeline, with its time. Every subject gets the same tasks.
type Task struct {
	At time.Duration
	Do func(context.Context, *Cluster) error
}

// kind is a kind of step. A valid step is of one kind.
type kind struct {
	matches func(scenario.Step) bool
	// tasks returns the tasks of a step and the number after its last change; next is the number of
	// its first change.
	tasks func(s scenario.Step, in setting, next int) ([]Task, int)
}

var kinds = []kind{
	{func(s scenario.Step) bool { return streams[s.Churn] != nil }, churnTasks},
	{func(s scenario.Step) bool { return s.Churn == scenario.Recorded }, recordedTasks},
	{func(s scenario.Step) bool { return s.Churn == scenario.CertificateRotation }, certificateTasks},
	{func(s scenario.Step) bool { return s.Apply != "" }, applyTasks},
	{func(s scenario.Step) bool { return s.Delete != "" }, deleteTasks},
	{func(s scenario.Step) bool { return s.Fault != "" }, faultTasks},
}

// setting is the data that all steps of a scenario share.
type setting struct {
	scenario   *scenario.Scenario
	population corpus.Population
	recorded   churn.Stream
	seed       uint64
}

// Tasks returns the tasks of the whole timeline, sorted by time. They act on the population of the
// recording and replay its stream, if it has one. Changes are numbered from 1 in the order of
// s.Timeline.
func Tasks(s *scenario.Scenario, of churn.Recording, seed uint64) ([]Task, error) {
	in := setting{scenario: s, population: of.Population, recorded: of.Stream, seed: seed}
	var all []Task
	next := 1
	for _, step := range s.Timeline {
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.matches(step) })
		if i < 0 {
			return nil, fmt.Errorf("%s:%d: the step has no known action: add churn, apply, delete or fault", s.File, step.Line)
		}
		var tasks []Task
		tasks, next = kinds[i].tasks(step, in, next)
		all = append(all, tasks...)
	}
	slices.SortStableFunc(all, func(a, b Task) int { return cmp.Compare(a.At, b.At) })
	return all, nil
}

// SplitIntoRounds distributes tasks over rounds, each of which covers an equal part of the
// timeline. It keeps their order and makes their times relative to the beginning of the round. A
// task at the very end of the timeline belongs to the last round.
func SplitIntoRounds(tasks []Task, length time.Duration, rounds int) [][]Task {
	perRound := make([][]Task, rounds)
	stretch := length / time.Duration(rounds)
	for _, task := range tasks {
		round := rounds - 1
		if stretch > 0 {
			round = min(round, int(task.At/stretch))
		}
		task.At -= stretch * time.Duration(round)
		perRound[round] = append(perRound[round], task)
	}
	return perRound
}
