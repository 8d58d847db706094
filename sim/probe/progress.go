package probe

import (
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// progress is the progress of one worker with one change. A worker serves a change when every added
// pod has answered, and then consecutive answers, twice as many as the service has pods, came from
// none of the removed pods. A worker serves a change with a Confirmation when a few consecutive
// answers match it.
type progress struct {
	change  event.Change
	since   time.Time
	added   []string // not seen yet
	removed []string
	pods    int // ready pods of the service, by its latest change
	clean   int // answers in a row

	superseded bool // by a change that wants another answer of the same host and path
}

// answersInARow is the number of consecutive answers that must match the Confirmation of a change,
// because the old state may show in between.
const answersInARow = 3

func newProgress(c event.Change) *progress {
	return &progress{change: c, since: time.Now(), added: slices.Clone(c.Added), removed: c.Removed, pods: c.Pods}
}

// forNewWorker returns the progress of a worker that has not been asked yet. It keeps what later
// changes have undone.
func (p *progress) forNewWorker() *progress {
	fresh := *p
	fresh.clean = 0
	return &fresh
}

// supersede removes what a later change undoes: pods that it removes need not be seen, and pods
// that it adds again may be seen.
func (p *progress) supersede(later event.Change) {
	if later.Confirmation != nil {
		p.superseded = p.superseded || p.change.Confirmation != nil && p.change.Host == later.Host && p.change.Path == later.Path
		return
	}
	p.added = without(p.added, later.Removed)
	p.removed = without(p.removed, later.Added)
	if later.Service != "" && later.Service == p.change.Service {
		p.pods = later.Pods
	}
}

// record records an answer and returns whether the worker serves the change.
func (p *progress) record(a answer) bool {
	if want := p.change.Confirmation; want != nil {
		if !want.Matches(a.service, a.status) {
			p.clean = 0
			return p.superseded
		}
		p.clean++
		return p.clean >= answersInARow
	}
	p.added = without(p.added, []string{a.pod})
	if len(p.added) > 0 || slices.Contains(p.removed, a.pod) || p.pods > 0 && a.pod == "" {
		p.clean = 0
		return false
	}
	p.clean++
	return p.clean >= max(1, 2*p.pods)
}

// shownBy reports whether a recorded answer shows if the worker serves the change. As long as an
// added pod has not been seen, the answer of a pod that the change does not affect shows nothing.
func (p *progress) shownBy(a answer) bool {
	return p.change.Confirmation != nil || len(p.added) == 0 || a.pod == "" || slices.Contains(p.change.Added, a.pod) || slices.Contains(p.removed, a.pod)
}

// answer is the answer to one request.
type answer struct {
	pod     string // empty: nginx itself answered
	service string // of the pod
	status  int
	last    bool // nginx closes the connection after it
}

// event returns the log's record of the answer from a worker (a PID) to a request about a change, or of
// the error if there is no answer.
func (a answer) event(worker int, about event.Change, took time.Duration, err error) *event.Answer {
	logged := &event.Answer{
		Worker: worker, Change: about.ID, Service: about.Service,
		Pod: a.pod, Served: a.service, Status: a.status, Took: took,
	}
	if err != nil {
		logged.Error = err.Error()
	}
	return logged
}

// sameRoute reports whether one request shows both changes.
func sameRoute(a, b event.Change) bool {
	return a.Host == b.Host && a.Path == b.Path && a.TLS == b.TLS
}

func without(pods, gone []string) []string {
	return slices.DeleteFunc(slices.Clone(pods), func(pod string) bool { return slices.Contains(gone, pod) })
}
