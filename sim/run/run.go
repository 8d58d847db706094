// Package run executes a scenario: it starts the subjects, gives each its turns, and writes the
// event log. It stands between the scenario and everything that acts on a subject or observes it.
// Its one rule: it decides when things happen, not what they mean; that is read from the log later.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/step"
	"windtunnel.dev/sim/subject"
)

// Options say what to run and where.
type Options struct {
	Scenario    *scenario.Scenario
	Seed        uint64
	Driver      driver.Driver
	Dir         string // for the files that the subjects leave behind, such as logs; a folder each
	Log         *event.Log
	Start       time.Time         // the start of Log
	Environment map[string]string // of the report
}

// stopPatience is how long subjects may take to end by themselves.
const stopPatience = 20 * time.Second

// Do runs the scenario to its end, or until ctx is done, a subject dies or the log cannot be written.
// Nothing it started is left when it returns. The error says why the run could
// not be finished; what was seen until then is in the log.
func Do(ctx context.Context, o Options) (err error) {
	recording, imported, err := populate(o.Scenario, o.Seed)
	o.Log.Write(event.Event{Run: header(o, imported)})
	if err != nil {
		return err
	}
	population := recording.Population
	tasks, err := step.Tasks(o.Scenario, recording, o.Seed)
	if err != nil {
		return err
	}

	rigs, err := prepareAll(ctx, o, recording)
	defer func() { err = errors.Join(err, stop(ctx, rigs)) }()
	if err != nil {
		return err
	}
	// The probes end before the subjects do: the end of a subject is not part of the run.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	o.Log.OnFailure(func(err error) { cancel(fmt.Errorf("the event log cannot be written: %w", err)) })
	if err := launch(ctx, rigs, population); err != nil {
		if cut := context.Cause(ctx); cut != nil { // err is only a consequence
			return cut
		}
		return err
	}
	var supervising sync.WaitGroup
	for _, rig := range rigs {
		supervising.Go(func() { rig.superviseController(ctx, killsController(o.Scenario), cancel) })
	}
	host := probe.WatchHost(ctx, o.Log)
	defer func() { cancel(nil); supervising.Wait(); <-host }()

	err = rounds(ctx, o, rigs, step.SplitIntoRounds(tasks, o.Scenario.Length(), o.Scenario.Rounds))
	if err != nil {
		o.Log.Write(event.Event{At: o.Log.Now(), Phase: &event.Phase{Name: event.Cut}})
	}
	return err
}

// Try starts the subjects with the scenario's population and stops them again. The
// error says why one of them cannot be run; nothing is changed or measured.
func Try(ctx context.Context, o Options) (err error) {
	recording, _, err := populate(o.Scenario, o.Seed)
	if err != nil {
		return err
	}
	rigs, err := prepareAll(ctx, o, recording)
	defer func() { err = errors.Join(err, stop(ctx, rigs)) }()
	if err != nil {
		return err
	}
	probing, cancel := context.WithCancel(ctx) // ends before the subjects do
	defer cancel()
	return launch(probing, rigs, recording.Population)
}

// killsController reports whether a scenario kills controllers, or processes that they depend on.
func killsController(s *scenario.Scenario) bool {
	return slices.ContainsFunc(s.Timeline, func(step scenario.Step) bool {
		f, known := fault.Find(step.Fault)
		return known && f.Kills
	})
}

// rounds gives the subjects their turns, in an order that is reversed each time (A B, B A), so that
// no subject always comes first.
func rounds(ctx context.Context, o Options, rigs []*rig, perRound [][]step.Task) error {
	slice := o.Scenario.Length() / time.Duration(len(perRound))
	for i, tasks := range perRound {
		for turn := range rigs {
			if i%2 == 1 {
				turn = len(rigs) - 1 - turn
			}
			if err := rigs[turn].round(ctx, o, i+1, slice, tasks); err != nil {
				return err
			}
		}
	}
	return nil
}

func header(o Options, imported *event.Population) *event.Run {
	run := &event.Run{
		Schema:      event.Schema,
		Scenario:    o.Scenario.Name,
		Summary:     o.Scenario.Summary,
		Seed:        o.Seed,
		Driver:      o.Driver.Name(),
		Start:       o.Start,
		Environment: o.Environment,
		Images:      map[string]string{},
		Programs:    map[string]string{},
		Granularity: o.Scenario.Granularity,
		Population:  imported,
	}
	for _, s := range subject.Of(o.Scenario) {
		run.Subjects = append(run.Subjects, s.Name)
		if image := driver.ImageOf(o.Driver, s); image != "" {
			run.Images[s.Name] = image
		}
		if program := driver.ProgramOf(o.Driver, s); program != "" {
			run.Programs[s.Name] = program
		}
	}
	return run
}

// prepareAll prepares the subjects. With an error, it returns those that are prepared.
func prepareAll(ctx context.Context, o Options, recording churn.Recording) ([]*rig, error) {
	var rigs []*rig
	for i, s := range subject.Of(o.Scenario) {
		one, err := prepare(ctx, o, recording, i, s)
		if err != nil {
			return rigs, err
		}
		rigs = append(rigs, one)
	}
	return rigs, nil
}

func prepare(ctx context.Context, o Options, recording churn.Recording, index int, s subject.Subject) (*rig, error) {
	dir := filepath.Join(o.Dir, s.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	instance, err := o.Driver.Prepare(ctx, s, driver.Options{
		Index: index, Dir: dir, Log: o.Log, Streams: streams(recording.Population),
		Namespaces: namespaces(o.Scenario, recording.Population), Pods: startedPods(o.Scenario, recording),
	})
	if err != nil {
		return nil, fmt.Errorf("preparing subject %s: %w", s.Name, err)
	}
	return &rig{name: s.Name, instance: instance, log: o.Log}, nil
}

// startedPods returns how many pods a run starts at most: those of the population, and those
// that changes add.
func startedPods(s *scenario.Scenario, recording churn.Recording) int {
	pods := need(recording.Population, 1).Pods
	for _, one := range s.Timeline {
		stream, _ := step.Stream(one.Churn, recording.Population, churn.Options{Rate: float64(one.Rate), For: one.For, Pods: one.Pods})
		if one.Churn == scenario.Recorded {
			stream = recording.Stream
		}
		for _, change := range stream.Changes {
			if change.At <= one.For {
				pods += len(change.Add)
			}
		}
	}
	return pods
}

// streamServices returns the services of the population that are reached over TCP and UDP.
func streamServices(population corpus.Population) []corpus.Service {
	return slices.DeleteFunc(slices.Clone(population.Services), func(s corpus.Service) bool { return s.StreamPort == 0 })
}

// streams returns the backends of these services.
func streams(population corpus.Population) []string {
	var all []string
	for _, s := range streamServices(population) {
		all = append(all, s.StreamBackend())
	}
	return all
}

// launch gives all subjects their population and starts them, at the same time.
func launch(ctx context.Context, rigs []*rig, population corpus.Population) error {
	group, launching := errgroup.WithContext(ctx)
	for _, rig := range rigs {
		group.Go(func() error { return rig.launch(launching, ctx, population) })
	}
	return group.Wait()
}

// stop ends all subjects, even after an interrupt.
func stop(ctx context.Context, rigs []*rig) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	errs := make([]error, len(rigs))
	var group errgroup.Group
	for i, rig := range rigs {
		group.Go(func() error { errs[i] = rig.stop(ctx); return nil })
	}
	group.Wait()
	return errors.Join(errs...)
}
