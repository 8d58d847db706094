package measure

import (
	"maps"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// Ongoing measures a run while it is running, for its viewers. It gets each event once, in the
// order of the log; an event takes about a microsecond. Its figures are provisional: requests that
// are still open are missing, and From, which knows the end of the run, makes the final
// measurements. It is not safe for concurrent use.
type Ongoing struct {
	subjects []*ongoing
	now      time.Duration // the latest At so far
	version  int           // of the state: the number of events so far
}

// ongoing is the state of one subject.
type ongoing struct {
	name     string
	rounds   rounds // an open round ends at never
	reloads  *reloads
	reloaded []numbered[Reload] // in order, with their versions
	faults   *faults
	requests *requests
	converge *settling
	live     liveWorkers
	bins     *growingBins
	heat     map[string]*growingHeat // by lane
	width    time.Duration           // of a column of the heat maps
	failures []numbered[FailedRequest]
	ended    pace
}

// numbered is a value with the version of the state that last changed it.
type numbered[T any] struct {
	value   T
	version int
}

// FailedRequest is a request that failed, as its client saw it.
type FailedRequest struct {
	At      time.Duration `json:"at"` // when it was due
	Lane    string        `json:"lane"`
	Method  string        `json:"method"`
	Host    string        `json:"host"`
	Service string        `json:"service"`
	Took    time.Duration `json:"took"` // from the time when it was due
	Status  int           `json:"status,omitempty"`
	Pod     string        `json:"pod,omitempty"` // that answered
	Cause   event.Cause   `json:"cause"`
	Detail  string        `json:"detail,omitempty"`
}

func failedRequest(r *event.Request, at time.Duration) FailedRequest {
	return FailedRequest{
		At: at, Lane: r.Lane, Method: r.Method, Host: r.Host, Service: r.Service, Took: r.Lag + r.Took,
		Status: r.Status, Pod: r.Pod, Cause: r.Cause, Detail: r.Detail,
	}
}

// mostFailures limits the failed requests of a subject that are kept one by one: the latest.
const mostFailures = 200

// NewOngoing begins to measure a run of the subjects. expected is about the total length of their
// rounds.
func NewOngoing(subjects []string, expected time.Duration) *Ongoing {
	o := &Ongoing{}
	for _, name := range subjects {
		o.subjects = append(o.subjects, &ongoing{
			name: name, live: liveWorkers{}, heat: map[string]*growingHeat{}, width: widthOf(expected, mostColumns),
			reloads: &reloads{known: map[generation]bool{}, pods: map[string]bool{}, counted: counters{}}, faults: &faults{struck: map[string]*Struck{}},
			requests: &requests{all: newTally(), byLane: map[string]*tally{}, left: map[string]time.Duration{}},
			converge: newSettling(), bins: newGrowingBins(widthOf(expected, mostBins)),
		})
	}
	return o
}

// Add processes an event.
func (o *Ongoing) Add(e event.Event) {
	o.version++
	o.now = max(o.now, e.At)
	for _, s := range o.subjects {
		if e.Subject == s.name || e.Subject == "" {
			s.add(&e, o.version)
		}
	}
}

func (s *ongoing) add(e *event.Event, version int) {
	if e.Phase != nil {
		s.phase(e.Phase, e.At)
	}
	in := s.rounds.at(e.At) >= 0
	s.reloads.Add(e, in)
	for _, reload := range s.reloads.seen[len(s.reloaded):] {
		s.reloaded = append(s.reloaded, numbered[Reload]{reload, version})
	}
	s.faults.Add(e, in)
	s.requests.Add(e, in)
	s.converge.Add(e, in)
	if e.Worker != nil {
		s.live.update(*e.Worker)
	}
	s.bins.add(e, in, s.rounds, s.live.generations, version)
	if e.Request == nil || !in {
		return
	}
	s.ended.add(e.At + e.Request.Lag + e.Request.Took)
	if hasLatency(e.Request) {
		s.lane(e.Request.Lane).add(e, s.rounds, version)
	}
	if e.Request.Cause != "" && e.Request.Cause != event.OurCancel {
		if len(s.failures) == mostFailures {
			s.failures = slices.Delete(s.failures, 0, 1)
		}
		s.failures = append(s.failures, numbered[FailedRequest]{failedRequest(e.Request, e.At), version})
	}
}

func (s *ongoing) lane(name string) *growingHeat {
	if s.heat[name] == nil {
		s.heat[name] = &growingHeat{width: s.width, columns: map[time.Duration]*numbered[Column]{}}
	}
	return s.heat[name]
}

// phase begins and ends rounds.
func (s *ongoing) phase(p *event.Phase, at time.Duration) {
	open := len(s.rounds) > 0 && s.rounds[len(s.rounds)-1].End == never
	switch {
	case p.Name == event.RoundBegin && !open:
		s.rounds = append(s.rounds, Round{Number: p.Round, Begin: at, End: never})
	case p.Name == event.ChurnEnd && open:
		s.rounds[len(s.rounds)-1].ChurnEnd = at
	case (p.Name == event.RoundEnd || p.Name == event.Cut) && open:
		s.rounds[len(s.rounds)-1].end(at)
		s.converge.endRound(at)
		s.faults.endRound(at)
	}
	s.converge.rounds, s.faults.rounds = s.rounds, s.rounds
}

// Progress is the progress of a subject's run so far.
type Progress struct {
	Name        string         `json:"name"`
	Rate        float64        `json:"rate"` // requests that ended per second, over the last three seconds
	Requests    int            `json:"requests"`
	Failed      int            `json:"failed"`
	Causes      map[string]int `json:"causes"`      // of failed requests
	Changes     int            `json:"changes"`     // made
	Waiting     int            `json:"waiting"`     // of them, those that not every worker serves yet
	Reloads     int            `json:"reloads"`     // in its rounds
	Generations int            `json:"generations"` // of workers that are alive
	Last        Durations      `json:"last"`        // from the intent of a change until every worker served it
	Stale       Durations      `json:"stale"`       // answers of pods that a change had removed: from the intent of the change until the request was sent
}

// Progress returns the progress of each subject so far.
func (o *Ongoing) Progress() []Progress {
	var all []Progress
	for _, s := range o.subjects {
		s.converge.settle(o.now)
		counts := s.requests.all
		all = append(all, Progress{
			Name: s.name, Rate: s.ended.rate(o.now), Requests: counts.Sent, Failed: counts.Failed, Causes: maps.Clone(counts.Causes),
			Changes: s.converge.made, Waiting: s.converge.waiting(), Reloads: len(s.reloads.seen), Generations: s.live.generations(),
			Last: s.converge.every.result(), Stale: counts.stale.result(),
		})
	}
	return all
}

// Update has the changed parts of a subject's timeline. Its bins, and the columns of its heat maps, replace
// those with the same At; its reloads and failures follow those of earlier updates. Its other fields are
// complete. Its changes are empty: First and Every have the times of those that are served.
type Update struct {
	Timeline
	First    []time.Duration // from the intent of each change until the first worker served it, sorted
	Every    []time.Duration // likewise every worker
	Served   int             // the number of changes that these times are of
	Failures []FailedRequest // the latest
}

// Since returns the updates of all subjects after a version of the state, and the current version.
// Everything changed after version 0. An open round ends now.
func (o *Ongoing) Since(version int) (updates []Update, current int) {
	for _, s := range o.subjects {
		s.converge.settle(o.now)
		u := Update{
			Timeline: Timeline{
				Name: s.name, Rounds: s.rounds.until(o.now), Width: s.bins.width, Bins: s.bins.since(version),
				Reloads: since(s.reloaded, version), Faults: s.faults.until(o.now), Proportional: s.bins.proportional,
			},
			First: slices.Clone(s.converge.firstTimes), Every: slices.Clone(s.converge.everyTimes), Served: s.converge.final,
			Failures: since(s.failures, version),
		}
		for _, lane := range slices.Sorted(maps.Keys(s.heat)) {
			u.Heat = append(u.Heat, Heat{Lane: lane, Width: s.width, Columns: s.heat[lane].since(version)})
		}
		updates = append(updates, u)
	}
	return updates, o.version
}

// since returns the values of a list that grows at its end that are newer than a version.
func since[T any](all []numbered[T], version int) (newer []T) {
	first := len(all)
	for first > 0 && all[first-1].version > version {
		first--
	}
	for _, one := range all[first:] {
		newer = append(newer, one.value)
	}
	return newer
}

// until returns the rounds. An open round ends now.
func (rs rounds) until(now time.Duration) []Round {
	all := slices.Clone(rs)
	if last := len(all) - 1; last >= 0 && all[last].End == never {
		all[last].end(now)
	}
	return all
}
