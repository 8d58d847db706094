package measure

import (
	"cmp"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// counters has the counter of each controller of an observed installation, by its pod.
type counters map[string]*counter

// counter follows one controller from scrape to scrape.
type counter struct {
	last     event.Scrape
	at       time.Duration // of last
	seen     []time.Duration
	failed   int
	restarts int
	dropped  int64
	requests int64
	active   int
	gaps     *durations
}

// add processes a scrape. The difference from the previous scrape happened between the two. The counts of
// a controller that has restarted begin at zero; those of its first scrape belong to its start.
func (cs counters) add(s *event.Scrape, at time.Duration, in bool) {
	c := cs[s.Pod]
	if c == nil {
		cs[s.Pod] = &counter{last: *s, at: at, gaps: newDurations()}
		return
	}
	before, previous := c.last, c.at
	c.last, c.at = *s, at
	if !in {
		return
	}
	c.gaps.add(at - previous)
	if s.Nginx != nil {
		c.active = max(c.active, s.Nginx.Active)
	}
	if restarted(before, *s) {
		c.restarts++
		return
	}
	c.addReloads(before.Reloads, s.Reloads, previous, at)
	if before.Nginx != nil && s.Nginx != nil {
		c.requests += max(0, s.Nginx.Requests-before.Nginx.Requests)
		c.dropped += max(0, s.Nginx.Accepted-s.Nginx.Handled-before.Nginx.Accepted+before.Nginx.Handled)
	}
}

// restarted reports whether the controller has started anew between two scrapes.
func restarted(before, now event.Scrape) bool {
	fell := before.Reloads != nil && now.Reloads != nil && now.Reloads.Loaded < before.Reloads.Loaded
	return fell || now.Started.Sub(before.Started).Abs() > time.Second
}

// addReloads adds the reloads between two scrapes. The controller tells when the last one was; if its
// clock disagrees with the harness's, that time is not between the scrapes, and the later one counts.
func (c *counter) addReloads(before, now *event.Reloads, from, to time.Duration) {
	if before == nil || now == nil {
		return
	}
	at := to
	if from <= now.Last && now.Last <= to {
		at = now.Last
	}
	for range now.Loaded - before.Loaded {
		c.seen = append(c.seen, at)
	}
	c.failed += now.Failed - before.Failed
}

// reloads returns the reloads of all controllers in order. They belong to no known generation.
func (cs counters) reloads() (all []Reload) {
	for _, c := range cs {
		for _, at := range c.seen {
			all = append(all, Reload{At: at})
		}
	}
	slices.SortFunc(all, func(a, b Reload) int { return cmp.Compare(a.At, b.At) })
	return all
}

// reported sums up what the controllers of an observed installation said about themselves.
type reported struct {
	counted counters
	late    *durations
}

func newReported(rounds) measurement {
	return &reported{counted: counters{}, late: newDurations()}
}

func (m *reported) Add(e *event.Event, in bool) {
	switch {
	case e.Scrape != nil:
		m.counted.add(e.Scrape, e.At, in)
	case e.Change != nil && in && e.Change.Late > 0:
		m.late.add(e.Change.Late)
	}
}

func (m *reported) Result(s *Subject, _ *Timeline) {
	gaps := newDurations()
	for _, c := range m.counted {
		s.Reported.Controllers++
		s.Reported.Reloads += len(c.seen)
		s.Reported.Failed += c.failed
		s.Reported.Restarts += c.restarts
		s.Reported.Requests += c.requests
		s.Reported.Dropped += c.dropped
		s.Reported.Active = max(s.Reported.Active, c.active)
		gaps.merge(c.gaps)
	}
	s.Reported.Granularity, s.Reported.Late = gaps.result(), m.late.result()
}
