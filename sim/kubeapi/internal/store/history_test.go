package store

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

func TestHistoryForgetsTheOldest(t *testing.T) {
	h := newHistory()
	h.maxEvents = 300
	for rv := uint64(1); rv <= 1000; rv++ {
		h.append(Event{Version: 2 * rv, Kind: watch.Modified, Object: &Object{Raw: []byte("12345")}})
	}
	if h.len() != 300 || h.bytes != 1500 || h.floor != 1400 {
		t.Errorf("the history has %d events of %d bytes above version %d", h.len(), h.bytes, h.floor)
	}
	if _, ok := h.since(1399); ok {
		t.Error("the history claims to have all events since a forgotten one")
	}
	for rv, want := range map[uint64]uint64{1400: 1402, 1401: 1402, 1402: 1404, 1999: 2000} {
		seq, ok := h.since(rv)
		if !ok || h.at(seq).Version != want {
			t.Errorf("the first event since %d is at %d, %v; want %d", rv, h.at(seq).Version, ok, want)
		}
	}
	if seq, ok := h.since(5000); !ok || seq != h.next {
		t.Errorf("events since the future: from %d, %v", seq, ok)
	}
}

func TestHistoryIsBoundedByBytes(t *testing.T) {
	h := newHistory()
	h.maxBytes = 100
	for rv := uint64(1); rv <= 50; rv++ {
		h.append(Event{Version: rv, Object: &Object{Raw: make([]byte, 30)}})
	}
	if h.len() != 3 || h.bytes != 90 {
		t.Errorf("the history has %d events of %d bytes", h.len(), h.bytes)
	}
	h.append(Event{Version: 51, Object: &Object{Raw: make([]byte, 1000)}})
	if h.len() != 1 {
		t.Errorf("the history has %d events, want only the newest, whatever its size", h.len())
	}
}

// The maximum number of events follows their rate, as in kube-apiserver.
func TestHistoryReachesBackFarEnough(t *testing.T) {
	t.Parallel()
	h := newHistory()
	var clock time.Duration
	h.now = func() time.Duration { return clock }
	rv := uint64(0)
	appendEvery := func(n int, d time.Duration) {
		for range n {
			rv++
			clock += d
			h.append(Event{Version: rv, Object: &Object{}})
		}
	}
	appendEvery(200, time.Second)
	if h.len() != minHistoryEvents || h.floor != 100 {
		t.Errorf("at one event per second: %d events above version %d", h.len(), h.floor)
	}
	appendEvery(100000, 10*time.Millisecond)
	if reach := clock - h.at(h.first).time; h.len() != 12800 || reach < freshFor {
		t.Errorf("at a hundred events per second: %d events of %s", h.len(), reach)
	}
	appendEvery(1000000, 10*time.Microsecond)
	if h.len() != maxHistoryEvents {
		t.Errorf("at a hundred thousand events per second: %d events", h.len())
	}
	appendEvery(100000, time.Second)
	if h.len() > 2*minHistoryEvents || len(h.ring) > 512 {
		t.Errorf("when the rate is low again: %d events in a ring of %d", h.len(), len(h.ring))
	}
	if h.floor+uint64(h.len()) != rv {
		t.Errorf("%d events above version %d do not include %d", h.len(), h.floor, rv)
	}
}

// The version at a time is that of the newest event up to then.
func TestHistoryBefore(t *testing.T) {
	h := newHistory()
	var now time.Duration
	h.now = func() time.Duration { return now }
	for rv := uint64(10); rv <= 30; rv += 10 {
		now = time.Duration(rv) * time.Second
		h.append(Event{Version: rv, Object: &Object{}})
	}
	for then, want := range map[time.Duration]uint64{9: 0, 10: 10, 19: 10, 20: 20, 29: 20, 30: 30, 99: 30} {
		if got := h.before(then * time.Second); got != want {
			t.Errorf("at %ds: version %d, want %d", then, got, want)
		}
	}
	h.drop()
	if got := h.before(0); got != 10 {
		t.Errorf("before the first known time: version %d, want 10", got)
	}
}
