package traffic

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// events is a log that can be read while it is written.
type events struct {
	*event.Log
	out *lines
}

// lines is a buffer that may be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func newEvents() *events {
	e := &events{out: &lines{}}
	e.Log = event.NewLog(e.out, time.Now())
	return e
}

// all flushes the log and returns its events so far.
func (e *events) all(t testing.TB) []event.Event {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e.out.mu.Lock()
	text := e.out.text.String()
	e.out.mu.Unlock()
	var all []event.Event
	for one, err := range event.Read(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

func (e *events) requests(t testing.TB) []event.Request {
	t.Helper()
	var requests []event.Request
	for _, one := range e.all(t) {
		if one.Request != nil {
			requests = append(requests, *one.Request)
		}
	}
	return requests
}

func (e *events) opened(t testing.TB) int {
	t.Helper()
	opened := 0
	for _, one := range e.all(t) {
		if one.Socket != nil && one.Socket.Opened {
			opened++
		}
	}
	return opened
}

// load returns the load of the only attack in the log.
func (e *events) load(t testing.TB) event.Load {
	t.Helper()
	var loads []event.Load
	for _, one := range e.all(t) {
		if one.Load != nil {
			loads = append(loads, *one.Load)
		}
	}
	if len(loads) != 1 {
		t.Fatalf("got %+v, want one event with the load of the attack", loads)
	}
	return loads[0]
}
