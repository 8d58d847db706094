package observe

import (
	"context"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/follow"
)

// Progress is what an observation has seen so far.
type Progress struct {
	Took                      time.Duration
	Changes, Requests, Failed int
	Trouble                   string // the latest since the Progress before, or ""
}

// progress counts the events of an observation.
type progress struct {
	mu   sync.Mutex
	seen Progress
}

func (p *progress) see(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case e.Change != nil:
		p.seen.Changes++
	case e.Request != nil && e.Request.Cause == "":
		p.seen.Requests++
	case e.Request != nil && e.Request.Cause != event.OurCancel:
		p.seen.Requests++
		p.seen.Failed++
	case e.Trouble != nil:
		p.seen.Trouble = e.Trouble.What
		if e.Trouble.Detail != "" {
			p.seen.Trouble += ": " + e.Trouble.Detail
		}
	}
}

// now returns what was seen since the beginning of the observation, and the trouble once.
func (p *progress) now(took time.Duration) Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	seen.Took, p.seen.Trouble = took, ""
	return seen
}

// reportProgress calls Progress repeatedly until ctx ends.
func (ob *observation) reportProgress(ctx context.Context, seen *progress) {
	began := time.Now()
	for {
		select {
		case <-time.After(follow.ReportAfter(time.Since(began))):
			ob.Progress(seen.now(time.Since(began)))
		case <-ctx.Done():
			return
		}
	}
}
