package agent

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"windtunnel.dev/sim/event"
)

// segments records how far the log of an agent has been read.
type segments struct {
	number int    // of the next segment
	lines  int    // read so far
	left   []byte // the beginning of a line that a segment has cut
}

// fetchTimeout limits the time for fetching a segment; fetchTries limits the number of attempts.
const (
	fetchTimeout = 2 * time.Minute
	fetchTries   = 3
)

// fetch gets the next segment, and returns whole lines. It returns an error if lines are missing.
func (p *Peer) fetch(ctx context.Context) (text []byte, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTimeout, fmt.Errorf("timed out after %v", fetchTimeout))
	defer cancel()
	path := fmt.Sprintf("/events/%d", p.reader.number)
	lines := 0
	for try := 1; ; try++ {
		if text, lines, err = p.segment(ctx, path); err == nil {
			break
		}
		if try == fetchTries || ctx.Err() != nil {
			return nil, p.explain(ctx, path, err)
		}
	}
	p.reader.number++
	text = append(p.reader.left, text...)
	end := bytes.LastIndexByte(text, '\n') + 1
	p.reader.left = bytes.Clone(text[end:])
	if p.reader.lines += bytes.Count(text[:end], []byte{'\n'}); p.reader.lines != lines {
		return nil, fmt.Errorf("pod %s has logged %d events, and %d have arrived", p.at.Pod, lines, p.reader.lines)
	}
	return text[:end], nil
}

// segment gets a segment and decompresses it.
func (p *Peer) segment(ctx context.Context, path string) (text []byte, lines int, err error) {
	answer, err := p.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	if lines, err = strconv.Atoi(answer.Header.Get(linesHeader)); err != nil {
		return nil, 0, fmt.Errorf("the answer has no number of lines: %w", err)
	}
	zip, err := gzip.NewReader(answer.Body)
	if err != nil {
		return nil, 0, err
	}
	text, err = io.ReadAll(zip)
	return text, lines, err
}

// translated yields the events of an agent's log with the times of the run's log.
func (p *Peer) translated(text []byte) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range event.Read(bytes.NewReader(text)) {
			e.At = p.ours(e.At)
			if !yield(e, err) {
				return
			}
		}
	}
}

// Gather writes the events that agents have logged since the last call to the log of the run, in
// the order of time, together with what is known about the agents' clocks. It reports events that
// it cannot get as missing, which makes the run void.
func Gather(ctx context.Context, log *event.Log, subject string, role event.ClockRole, peers []*Peer) error {
	missing := func(what string, why error) {
		log.Write(event.Event{At: log.Now(), Subject: subject, Missing: &event.Missing{What: what, Why: why.Error()}})
	}
	var logs []iter.Seq2[event.Event, error]
	for _, p := range peers {
		unsure := p.MeasureClock(ctx)
		text, err := p.fetch(ctx)
		if err = errors.Join(err, unsure); err != nil {
			missing("events of pod "+p.at.Pod, err)
			continue
		}
		c := p.Clock(role)
		log.Write(event.Event{At: log.Now(), Subject: subject, Clock: &c})
		logs = append(logs, p.translated(text))
	}
	for e, err := range event.Merge(logs...) {
		if err != nil {
			return fmt.Errorf("the log of a pod: %w", err)
		}
		log.Write(e)
	}
	for _, p := range peers {
		p.restartClock()
	}
	return nil
}
