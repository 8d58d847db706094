package event

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"
)

// Log writes events as JSON lines. It is safe for concurrent use. The lines are in the order of the
// calls, which may differ from the order of At. A process that is killed loses the events of its last
// second, but not the Run, without which the others cannot be measured.
type Log struct {
	start time.Time

	mu     sync.Mutex
	buf    *bufio.Writer
	err    error
	tap    func(Event)
	failed func(error)
	flush  *time.Timer // flushes buf; nil: nothing is buffered
	closed bool
}

// flushAfter is how long an event is buffered, at most.
const flushAfter = time.Second

// NewLog returns a log that writes to w. Every At counts from start, the start of the run. It must
// have a monotonic clock reading, like the result of time.Now.
func NewLog(w io.Writer, start time.Time) *Log {
	return &Log{start: start, buf: bufio.NewWriterSize(w, 1<<16)}
}

// Now returns the time since the start of the run.
func (l *Log) Now() time.Duration { return l.At(time.Now()) }

// At returns the time from the start of the run to t.
func (l *Log) At(t time.Time) time.Duration { return t.Sub(l.start) }

// Tap calls observe with every event that is written from now on, one at a time, in the order of
// the log. observe must be fast and must not write events.
func (l *Log) Tap(observe func(Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tap = observe
}

// OnFailure calls report when an event cannot be written, at most once. report must be fast and must not
// write events.
func (l *Log) OnFailure(report func(error)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = report
	if l.err != nil {
		report(l.err)
	}
}

// fail notes the first error. The caller holds mu.
func (l *Log) fail(err error) {
	if err == nil {
		return
	}
	l.err = err
	if l.failed != nil {
		l.failed(err)
	}
}

// Write appends e. After the first error it writes nothing more; Close returns that error. What is
// written after Close is flushed only by another Close.
func (l *Log) Write(e Event) {
	line := encoders.Get().(*encoder)
	defer encoders.Put(line)
	line.text.Reset()
	err := line.json.Encode(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if err == nil {
		_, err = l.buf.Write(line.text.Bytes())
	}
	switch {
	case err != nil || l.closed:
	case e.Run != nil:
		err = l.buf.Flush()
	case l.flush == nil:
		l.flush = time.AfterFunc(flushAfter, l.flushBuffered)
	}
	l.fail(err)
	if l.tap != nil {
		l.tap(e)
	}
}

// Trouble writes an event with a problem of a subject.
func (l *Log) Trouble(subject, what, detail string) {
	l.Write(Event{At: l.Now(), Subject: subject, Trouble: &Trouble{What: what, Detail: detail}})
}

func (l *Log) flushBuffered() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush = nil
	if l.err == nil && !l.closed {
		l.fail(l.buf.Flush())
	}
}

// encoder encodes events, one at a time. Encoders are pooled.
type encoder struct {
	text bytes.Buffer // the last event, and a line feed
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.json = json.NewEncoder(&e.text)
	return e
}}

// Close flushes the log and returns the first error of all writes. It does not close the underlying
// writer.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.flush != nil {
		l.flush.Stop()
	}
	if l.err != nil {
		return l.err
	}
	return l.buf.Flush()
}

// longest is the maximum length of a line, in bytes.
const longest = 16 << 20

// Read yields the events of a log in its order. A line that does not parse yields an error with the
// line number and ends the sequence.
//
// A killed run may leave an incomplete last line. Instead of that line, Read yields a Trouble that
// reports it and a Cut phase; the events before it remain valid.
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
				torn := fmt.Sprintf("line %d is cut off, as the run was killed; the events before it count", n)
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

// isCut reports whether a line ended too early, given the error from parsing it.
func isCut(err error, line []byte) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) && syntax.Offset == int64(len(line)) && syntax.Error() == "unexpected end of JSON input"
}
