package kubeapi

import (
	"testing"

	"k8s.io/apimachinery/pkg/watch"
)

func TestHistoryForgetsTheOldest(t *testing.T) {
	h := newHistory()
	h.maxEvents = 300
	for rv := uint64(1); rv <= 1000; rv++ {
		h.append(event{rv: 2 * rv, kind: watch.Modified, object: &object{raw: []byte("12345")}})
	}
	if h.len() != 300 || h.bytes != 1500 || h.floor != 1400 {
		t.Errorf("holds %d events of %d bytes above %d", h.len(), h.bytes, h.floor)
	}
	if _, ok := h.since(1399); ok {
		t.Error("has all events since one that is forgotten")
	}
	for rv, want := range map[uint64]uint64{1400: 1402, 1401: 1402, 1402: 1404, 1999: 2000} {
		seq, ok := h.since(rv)
		if !ok || h.at(seq).rv != want {
			t.Errorf("the first event since %d is at %d, %v; want %d", rv, h.at(seq).rv, ok, want)
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
		h.append(event{rv: rv, object: &object{raw: make([]byte, 30)}})
	}
	if h.len() != 3 || h.bytes != 90 {
		t.Errorf("holds %d events of %d bytes", h.len(), h.bytes)
	}
	h.append(event{rv: 51, object: &object{raw: make([]byte, 1000)}})
	if h.len() != 1 {
		t.Errorf("holds %d events; the newest alone is kept whatever its size", h.len())
	}
}
