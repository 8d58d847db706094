// Package watch follows a run from its event log, for viewers in a terminal or in a browser: its
// current stage, what it waits for, and the measurements so far. Its one rule: no viewer can delay
// the run. An event costs the same for any number of viewers, and nothing here waits for them.
package watch

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
)

// Stage is a stage of a run.
type Stage string

// The stages of a run, in their order. Changing, settling and resting repeat for each turn of a subject.
const (
	Starting  Stage = "starting"
	Changing  Stage = "changing"  // the timeline of a turn plays
	Settling  Stage = "settling"  // the workers have to serve the last changes
	Resting   Stage = "resting"   // between two turns: open requests end
	Stopping  Stage = "stopping"  // the subjects end
	Measuring Stage = "measuring" // the report is made
)

// Run is the state of a run. It is safe for concurrent use.
type Run struct {
	scenario *scenario.Scenario

	mu      sync.Mutex
	ongoing *measure.Ongoing
	stage   Stage
	since   time.Time // the stage
	turn    int       // from 1; 0 before the first
	subject string    // whose turn it is, or was last
	ready   []string
	stopped []string
	cut     bool
	turns   map[string]int // the number of turns that began, by subject
}

// Of returns the state of a run of a scenario that begins now.
func Of(s *scenario.Scenario) *Run {
	return &Run{scenario: s, ongoing: measure.NewOngoing(names(s), s.Length()), stage: Starting, since: time.Now(), turns: map[string]int{}}
}

func names(s *scenario.Scenario) (all []string) {
	for _, subject := range s.Subjects {
		all = append(all, subject.Name)
	}
	return all
}

// See processes an event of the log. It takes about a microsecond.
func (r *Run) See(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ongoing.Add(e)
	if e.Phase != nil {
		r.phase(e)
	}
}

// End records that the run is over, and that its report is being made.
func (r *Run) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enter(Measuring)
}

func (r *Run) enter(s Stage) { r.stage, r.since = s, time.Now() }

func (r *Run) phase(e event.Event) {
	switch e.Phase.Name {
	case event.Ready:
		r.ready = append(r.ready, e.Subject)
	case event.RoundBegin:
		r.turn++
		r.turns[e.Subject]++
		r.subject = e.Subject
		r.enter(Changing)
	case event.ChurnEnd:
		r.enter(Settling)
	case event.RoundEnd:
		if r.enter(Resting); r.turn == r.allTurns() {
			r.enter(Stopping)
		}
	case event.Cut:
		r.cut = true
		r.enter(Stopping)
	case event.Stopped:
		r.stopped = append(r.stopped, e.Subject)
	}
}

func (r *Run) allTurns() int { return r.scenario.Rounds * len(r.scenario.Subjects) }

// Status is the current stage of a run, with the measurements of its subjects so far.
type Status struct {
	Stage    Stage           `json:"stage"`
	Turn     int             `json:"turn"` // from 1; 0 before the first
	Turns    int             `json:"turns"`
	Subject  string          `json:"subject"` // whose turn it is, or was last
	Took     time.Duration   `json:"took"`    // the stage, so far
	Of       time.Duration   `json:"of"`      // how long the stage takes, at most; 0: not known
	Waits    string          `json:"waits"`   // what the run waits for, in a sentence without a full stop
	Subjects []SubjectStatus `json:"subjects"`
}

// SubjectStatus is the current phase of a subject, with its measurements so far.
type SubjectStatus struct {
	measure.Progress
	Phase string `json:"phase"` // in a word or two, with the number of its turn if it has one
}

// Status returns the current status of the run.
func (r *Run) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status()
}

func (r *Run) status() Status {
	s := Status{Stage: r.stage, Turn: r.turn, Turns: r.allTurns(), Subject: r.subject, Took: time.Since(r.since)}
	switch r.stage {
	case Changing:
		s.Of = r.scenario.Length() / time.Duration(r.scenario.Rounds)
	case Settling:
		s.Of = r.scenario.Settle
	}
	for _, p := range r.ongoing.Progress() {
		s.Subjects = append(s.Subjects, SubjectStatus{p, r.phaseOf(p.Name)})
	}
	s.Waits = r.waits(s)
	return s
}

// phaseOf returns what a subject does, in a word or two.
func (r *Run) phaseOf(name string) string {
	switch {
	case r.stage == Starting && !slices.Contains(r.ready, name):
		return "starting"
	case slices.Contains(r.stopped, name):
		return "stopped"
	case r.stage == Stopping || r.stage == Measuring:
		return "stopping"
	case r.stage == Resting && name == r.subject:
		return "resting"
	case name == r.subject:
		return fmt.Sprintf("%s %d/%d", r.stage, r.turns[name], r.scenario.Rounds)
	case r.turns[name] == r.scenario.Rounds:
		return "done"
	}
	return "waiting"
}

// waits returns what the run waits for, as in Status.Waits.
func (r *Run) waits(s Status) string {
	switch r.stage {
	case Starting:
		missing := without(names(r.scenario), r.ready)
		if len(missing) == 0 {
			return "waits for the first turn"
		}
		return fmt.Sprintf("waits until %s every host of the population", do(missing, "serves", "serve"))
	case Changing:
		if left := s.Of - s.Took; left > 0 {
			return fmt.Sprintf("waits for the end of the timeline, in %v", left.Round(time.Second))
		}
		return "waits for the last change of the timeline"
	case Settling:
		if i := slices.IndexFunc(s.Subjects, func(one SubjectStatus) bool { return one.Name == r.subject }); i >= 0 && s.Subjects[i].Waiting > 0 {
			return fmt.Sprintf("waits until every worker serves %s, at most %v", plural.Of(s.Subjects[i].Waiting, "more change"), s.Of)
		}
		return fmt.Sprintf("waits until the probes have observed the last change, at most %v", s.Of)
	case Resting:
		return "waits for the requests that are still open"
	case Stopping:
		why := "waits until "
		if r.cut {
			why = "was cut short, and " + why
		}
		if missing := without(names(r.scenario), r.stopped); len(missing) > 0 {
			return why + do(missing, "has ended", "have ended")
		}
		return why + "its processes have ended"
	}
	return "waits for the report"
}

// do returns a list of subjects with the matching form of a verb, as in: a and b serve.
func do(names []string, one, many string) string {
	if len(names) == 1 {
		return names[0] + " " + one
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " " + many
}

func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(some, name) })
}

// Since returns the current status, the changes of each subject after a version of its state, and the
// current version. Version 0 is before all changes.
func (r *Run) Since(version int) (Status, []measure.Update, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	updates, current := r.ongoing.Since(version)
	return r.status(), updates, current
}
