package event

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"
)

// Log writes events as JSON lines. It is safe for use by many goroutines; the
// lines are in the order of the calls, which is not always the order of At.
type Log struct {
	start time.Time

	mu  sync.Mutex
	buf *bufio.Writer
	err error
	tap func(Event)
}

// NewLog returns a log that writes to w. Start is the run's start, the zero of
// every At; it must carry a monotonic clock reading, as time.Now does.
func NewLog(w io.Writer, start time.Time) *Log {
	return &Log{start: start, buf: bufio.NewWriterSize(w, 1<<16)}
}

// Now is the time since the start of the run.
func (l *Log) Now() time.Duration { return l.At(time.Now()) }

// At is the time from the start of the run to t.
func (l *Log) At(t time.Time) time.Duration { return t.Sub(l.start) }

// Tap has see called with every event that is written from now on, one at a
// time, in the order of the log. It must be quick, and must not write events.
func (l *Log) Tap(see func(Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tap = see
}

// Write appends e as it is. The first error stays and is returned by Close.
func (l *Log) Write(e Event) {
	line, err := json.Marshal(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if err == nil {
		_, err = l.buf.Write(append(line, '\n'))
	}
	l.err = err
	if l.tap != nil {
		l.tap(e)
	}
}

// Close flushes and returns the first error of all writes. It does not close
// the writer beneath.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return errors.Join(l.err, l.buf.Flush())
}

// longest is how many bytes a line of a log may have.
const longest = 16 << 20

// Read yields the events of a log in its order. A line that does not parse is
// yielded as an error that names the line, and ends the sequence.
//
// A last line that ends too early is what a killed run leaves.
// Instead of it come a Trouble that says so, and Cut: the rest of the log counts.
func Read(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, longest)
		var latest time.Duration
		n := 1
		for ; lines.Scan(); n++ {
			var e Event
			err := json.Unmarshal(lines.Bytes(), &e)
			switch {
			case isCut(err, lines.Bytes()) && n > 1 && !lines.Scan():
				torn := fmt.Sprintf("line %d is cut off, as the run was killed; what comes before it counts", n)
				_ = yield(Event{At: latest, Trouble: &Trouble{What: "the event log", Detail: torn}}, nil) &&
					yield(Event{At: latest, Phase: &Phase{Name: Cut}}, nil)
				return
			case err != nil:
				yield(Event{}, fmt.Errorf("event log line %d: %w", n, err))
				return
			}
			latest = max(latest, e.At)
			if !yield(e, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, fmt.Errorf("event log line %d: %w", n, err))
		}
	}
}

// isCut says whether a line is the beginning of one that would parse.
func isCut(err error, line []byte) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && syntax.Offset == int64(len(line)) && syntax.Error() == "unexpected end of JSON input"
}
