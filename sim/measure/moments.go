package measure

import (
	"cmp"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// Moment is a period in which requests failed, with the events around it. Requests belong to the same
// moment if they failed in the same round, with at most half a second between one and the next.
type Moment struct {
	From     time.Duration // when the first of its requests was due
	Until    time.Duration // when the last one was due
	Ended    time.Duration // when the last one ended
	Failed   int
	Causes   map[string]int  // of the failed requests
	Lanes    map[string]int  // likewise
	Requests []FailedRequest // the first of them
	Changes  []Served        // whose intent was shortly before, or meanwhile: the latest
	Reloads  []Reload        // likewise
	Faults   []Broken        // that were active shortly before, or meanwhile
	Log      []string        // lines of the controller's log around it; From does not know them
}

// Logged is a position in the log file of a subject, and the time after which the following lines
// were written.
type Logged struct {
	At    time.Duration
	Bytes int64
}

// Bounds of moments.
const (
	apart         = 500 * time.Millisecond
	shortlyBefore = 2 * time.Second // longer than a sync of a reload takes
	mostMoments   = 12              // of a subject: those with the most failed requests
	mostAround    = 10              // requests, changes and reloads of a moment, each
)

// moments finds when requests failed.
type moments struct {
	rounds   rounds
	failures []FailedRequest
	logged   []Logged
}

func newMoments(r rounds) measurement { return &moments{rounds: r} }

func (m *moments) Add(e *event.Event, in bool) {
	switch {
	case e.Logged != nil:
		m.logged = append(m.logged, Logged{e.At, e.Logged.Bytes})
	case in && e.Request != nil && e.Request.Cause != "" && e.Request.Cause != event.OurCancel:
		m.failures = append(m.failures, failedRequest(e.Request, e.At))
	}
}

// Result must run after all measurements that write changes, reloads and faults.
func (m *moments) Result(_ *Subject, t *Timeline) {
	// Requests that were due at the same time have no order in the log.
	slices.SortFunc(m.failures, func(a, b FailedRequest) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Method, b.Method),
			cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Took, b.Took), cmp.Compare(a.Status, b.Status), cmp.Compare(a.Pod, b.Pod), cmp.Compare(a.Detail, b.Detail))
	})
	slices.SortFunc(m.logged, func(a, b Logged) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Bytes, b.Bytes)) })
	var all []Moment
	for _, f := range m.failures {
		last := len(all) - 1
		if last < 0 || f.At-all[last].Until > apart || m.rounds.at(f.At) != m.rounds.at(all[last].Until) {
			all = append(all, Moment{From: f.At, Causes: map[string]int{}, Lanes: map[string]int{}})
			last++
		}
		all[last].add(f)
	}
	t.Logged, t.OtherMoments = m.logged, max(0, len(all)-mostMoments)
	slices.SortStableFunc(all, func(a, b Moment) int { return cmp.Compare(b.Failed, a.Failed) })
	all = all[:len(all)-t.OtherMoments]
	slices.SortFunc(all, func(a, b Moment) int { return cmp.Compare(a.From, b.From) })
	for i := range all {
		all[i].around(t, m.rounds[m.rounds.at(all[i].From)].Begin)
	}
	t.Moments = all
}

// add adds a failed request. The requests come in the order of At.
func (m *Moment) add(f FailedRequest) {
	m.Until, m.Ended = f.At, max(m.Ended, f.At+f.Took)
	m.Failed++
	m.Causes[string(f.Cause)]++
	m.Lanes[f.Lane]++
	if len(m.Requests) < mostAround {
		m.Requests = append(m.Requests, f)
	}
}

// around finds what happened around the moment, in its round, which began at begin. The last
// request was due at Until, but the cause of its failure may have come until the request ended.
func (m *Moment) around(t *Timeline, begin time.Duration) {
	from, until := max(begin, m.From-shortlyBefore), m.Ended
	m.Changes = latest(t.Changes, from, until, func(c Served) time.Duration { return c.At })
	m.Reloads = latest(t.Reloads, from, until, func(r Reload) time.Duration { return r.At })
	for _, f := range t.Faults {
		if f.From <= until && f.Until >= from {
			m.Faults = append(m.Faults, f)
		}
	}
}

// latest returns the latest of the values, in order of time, whose time is between from and until.
func latest[T any](all []T, from, until time.Duration, at func(T) time.Duration) (found []T) {
	for _, one := range all {
		if at(one) >= from && at(one) <= until {
			found = append(found, one)
		}
	}
	return found[max(0, len(found)-mostAround):]
}

// LogAround returns the begin and the end, in the log file of a subject, of the lines that were
// written between two times. ok is false if the log has no times, or no lines between them. The
// last line may be a little later. An end of -1 means the end of the file.
func (t Timeline) LogAround(from, until time.Duration) (begin, end int64, ok bool) {
	begin, end = -1, -1
	for _, l := range t.Logged {
		switch {
		case l.At > until:
			end = l.Bytes
		case l.At >= from && begin < 0:
			begin = l.Bytes
		}
		if end >= 0 {
			break
		}
	}
	return begin, end, begin >= 0
}
