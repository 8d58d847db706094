// Package calibrate reads the folders of runs. From them it gets the costs of the parts of the
// control loop, from which package costs fits parameters, and the measurements with which
// predictions are compared. Its one rule: it uses only valid runs, and reports which runs it does
// not use.
package calibrate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// Run is one subject of a run.
type Run struct {
	Folder   string
	Scenario string
	Subject  string
	Machine  map[string]string
	Question question.Question // whose answer predicts the run
	Input    simulate.Input
	Result   measure.Subject

	// ControllerMemory is its highest resident memory in MiB, from the log.
	ControllerMemory float64

	events  []event.Event // of the subject, in order of time
	changes []measure.Served
}

// Read reads the runs below paths: each is the folder of a run, or a folder of such folders. skipped
// says which runs or subjects cannot be used, and why. It is an error if a path is the folder of a run
// that cannot be read.
func Read(paths []string) (runs []Run, skipped []string, err error) {
	for _, path := range paths {
		dirs, err := rundir.Find(path)
		if err != nil {
			return nil, nil, err
		}
		for _, dir := range dirs {
			found, why, err := read(dir)
			switch {
			case err != nil && string(dir) == path:
				return nil, nil, fmt.Errorf("%s: %w", dir, err)
			case err != nil:
				why = []string{fmt.Sprintf("%s: %v", dir, err)}
			}
			runs, skipped = append(runs, found...), append(skipped, why...)
		}
	}
	return runs, skipped, nil
}

func read(dir rundir.Dir) (runs []Run, skipped []string, err error) {
	s, err := scenario.Load(dir.File(rundir.Scenario), scenario.Known{})
	if err != nil {
		return nil, nil, err
	}
	events, err := eventsOf(dir)
	if err != nil {
		return nil, nil, err
	}
	result, series, err := measure.From(func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	for i, one := range subject.Of(s) {
		if i >= len(result.Subjects) {
			break
		}
		if why := result.Subjects[i].Invalid; len(why) > 0 {
			skipped = append(skipped, fmt.Sprintf("%s: %s is void: %s", dir, one.Name, why[0]))
			continue
		}
		r := Run{
			Folder: string(dir), Scenario: s.Name, Subject: one.Name, Machine: result.Run.Environment,
			Result: result.Subjects[i], changes: series.Subjects[i].Changes,
		}
		if err := r.ask(s, one); err != nil {
			skipped = append(skipped, fmt.Sprintf("%s: %v", dir, err))
			continue
		}
		r.keep(events)
		runs = append(runs, r)
	}
	return runs, skipped, nil
}

// eventsOf reads the log.
func eventsOf(dir rundir.Dir) ([]event.Event, error) {
	file, err := readfile.Open(dir.File(rundir.Events))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []event.Event
	for e, err := range event.Read(file) {
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// ask sets the question whose answer predicts the run, and its input.
func (r *Run) ask(s *scenario.Scenario, one subject.Subject) error {
	processors, err := strconv.Atoi(r.Machine["processors"])
	if err != nil {
		return fmt.Errorf("the log does not say how many processors the machine has")
	}
	if r.Question, err = question.FromScenario(s, one); err != nil {
		return err
	}
	r.Input, err = r.Question.Input(processors)
	return err
}

// keep keeps the events that observations are made of, in order of time.
func (r *Run) keep(events []event.Event) {
	for _, e := range events {
		if e.Subject == r.Subject && (e.Phase != nil || e.Sync != nil || e.Usage != nil || e.Worker != nil || e.Change != nil || e.Written != nil) {
			r.events = append(r.events, e)
		}
	}
	slices.SortStableFunc(r.events, func(a, b event.Event) int { return cmp.Compare(a.At, b.At) })
	r.Input.SinceSync = r.sinceSync()
	for _, e := range r.events {
		if e.Usage != nil {
			r.ControllerMemory = max(r.ControllerMemory, mib(e.Usage.ControllerRSS))
		}
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// begin returns the time when the first round began.
func (r *Run) begin() time.Duration {
	for _, e := range r.events {
		if e.Phase != nil && e.Phase.Name == event.RoundBegin {
			return e.At
		}
	}
	return 0
}

// sinceSync returns the time from the beginning of the last sync before the first round to that round.
func (r *Run) sinceSync() time.Duration {
	var since time.Duration
	begin := r.begin()
	for _, e := range r.events {
		if e.Sync != nil && e.At <= begin {
			since = max(time.Millisecond, begin-(e.At-e.Sync.Took))
		}
	}
	return since
}

// Observations returns the costs that were measured in runs.
func Observations(runs []Run) []costs.Observation {
	var all []costs.Observation
	for i := range runs {
		o := observer{run: &runs[i], number: i}
		o.observe()
		all = append(all, o.all...)
	}
	return all
}
