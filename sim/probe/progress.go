package probe

import (
	"slices"

	"windtunnel.dev/sim/event"
)

// progress is how far one worker has come with one change. The worker has settled on the change
// when every added pod has answered and then, in a row, twice as many answers as the service has
// pods came from none of the removed pods. A change that says what is to be seen (See) is settled
// when that was seen a few times in a row.
type progress struct {
	change  event.Change
	added   []string // not seen yet
	removed []string
	pods    int // ready pods of the service, by its latest change
	clean   int // answers in a row

	superseded bool // by a change that wants another answer of the same host and path
}

// inARow is how many answers in a row must show the new state of a change with See: the old state
// may show in between.
const inARow = 3

func newProgress(c event.Change) *progress {
	return &progress{change: c, added: slices.Clone(c.Added), removed: c.Removed, pods: c.Pods}
}

// again returns the same change, with what later changes have undone, for a worker that has not
// been asked yet.
func (p *progress) again() *progress {
	fresh := *p
	fresh.clean = 0
	return &fresh
}

// supersede removes what a later change has undone: pods that it removed need not be seen, and pods
// that it added again may be seen.
func (p *progress) supersede(later event.Change) {
	if later.See != nil {
		p.superseded = p.superseded || p.change.See != nil && p.change.Host == later.Host && p.change.Path == later.Path
		return
	}
	p.added = without(p.added, later.Removed)
	p.removed = without(p.removed, later.Added)
	if later.Service != "" && later.Service == p.change.Service {
		p.pods = later.Pods
	}
}

// see records an answer and returns whether the worker has settled.
func (p *progress) see(a answer) bool {
	if see := p.change.See; see != nil {
		if !see.By(a.service, a.status) {
			p.clean = 0
			return p.superseded
		}
		p.clean++
		return p.clean >= inARow
	}
	p.added = without(p.added, []string{a.pod})
	if len(p.added) > 0 || slices.Contains(p.removed, a.pod) || p.pods > 0 && a.pod == "" {
		p.clean = 0
		return false
	}
	p.clean++
	return p.clean >= max(1, 2*p.pods)
}

// answer is the answer to one request.
type answer struct {
	pod     string // empty: nginx itself answered
	service string // of the pod
	status  int
	last    bool // nginx closes the connection after it
}

func without(pods, gone []string) []string {
	return slices.DeleteFunc(slices.Clone(pods), func(pod string) bool { return slices.Contains(gone, pod) })
}
