package live

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"windtunnel.dev/sim/event"
)

// Tally summarizes the API writes of a run. The duration of a write counts from its intent to the
// API server's answer.
type Tally struct {
	Writes, Errors     int
	P50, P90, P99, Max time.Duration
	LastError          string
	Behind             time.Duration // the longest delay of a write after its planned time
}

// longest is the upper end of the histogram. Longer writes count as this long.
const longest = 10 * time.Minute

// counter computes a Tally from the event log.
type counter struct {
	mu          sync.Mutex
	began       map[int]time.Duration // by change
	times       *hdrhistogram.Histogram
	tally       Tally
	changes     changeCounts
	stream      int // number of changes of the stream; later changes are of certificates
	lastTrouble string
}

// changeCounts counts the changes that were begun.
type changeCounts struct {
	made         int // of the stream
	refused      int // those of made that the API refused
	certificates int
}

func newCounter(stream int) *counter {
	return &counter{began: map[int]time.Duration{}, times: hdrhistogram.New(1, longest.Microseconds(), 3), stream: stream}
}

func (c *counter) observe(e event.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.Change != nil:
		c.began[e.Change.ID] = e.At
		if e.Change.ID > c.stream {
			c.changes.certificates++
		} else {
			c.changes.made++
		}
	case e.Written != nil:
		took := min(max(0, e.At-c.began[e.Written.Change]), longest)
		delete(c.began, e.Written.Change)
		c.tally.Writes++
		c.tally.Max = max(c.tally.Max, took)
		_ = c.times.RecordValue(took.Microseconds()) // it is within the histogram's range
		if e.Written.Error != "" {
			c.tally.Errors++
			c.tally.LastError = e.Written.Error
			if e.Written.Change <= c.stream {
				c.changes.refused++
			}
		}
	case e.Trouble != nil:
		c.lastTrouble = e.Trouble.What + ": " + e.Trouble.Detail
	}
}

func (c *counter) late(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally.Behind = max(c.tally.Behind, by)
}

// counts returns the number of changes that were begun.
func (c *counter) counts() changeCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changes
}

// trouble returns the last problem with pods, or "" if there was none.
func (c *counter) trouble() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastTrouble
}

func (c *counter) now() Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tally
	at := func(percent float64) time.Duration {
		return min(time.Duration(c.times.ValueAtPercentile(percent))*time.Microsecond, t.Max)
	}
	t.P50, t.P90, t.P99 = at(50), at(90), at(99)
	return t
}
