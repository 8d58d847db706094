package measure

import (
	"slices"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// The values at the edges are those next to the rounds; peaks are of the rounds and their edges alone.
func TestHeapAndDictionaries(t *testing.T) {
	of := rounds{{Begin: 10 * time.Second, End: 20 * time.Second}}
	heap, dictionaries := newHeap(of), newDictionaries(of)
	told := func(bytes, free int64) *event.Memory {
		return &event.Memory{Heap: bytes, Dictionaries: map[string]event.Dictionary{
			"configuration_data": {Capacity: 1000, Free: free}, "balancer_ewma": {Capacity: 10, Free: 10},
		}}
	}
	for at, memory := range map[time.Duration]*event.Memory{
		2 * time.Second: told(900, 1), 9 * time.Second: told(100, 600), 15 * time.Second: told(300, 200),
		16 * time.Second: {Heap: 250}, // its Lua did not answer
		21 * time.Second: told(200, 400), 40 * time.Second: told(800, 2),
	} {
		for _, m := range []measurement{heap, dictionaries} {
			m.Add(&event.Event{At: at, Memory: memory}, of.at(at) >= 0)
		}
	}
	var s Subject
	heap.Result(&s, nil)
	dictionaries.Result(&s, nil)
	if want := (Heap{Start: 100, Peak: 300, End: 200}); s.Heap != want {
		t.Errorf("heap %+v, want %+v", s.Heap, want)
	}
	want := []Dictionary{
		{Name: "balancer_ewma", Capacity: 10, StartFree: 10, LeastFree: 10, EndFree: 10},
		{Name: "configuration_data", Capacity: 1000, StartFree: 600, LeastFree: 200, EndFree: 400},
	}
	if !slices.Equal(s.Dictionaries, want) {
		t.Errorf("dictionaries %+v, want %+v", s.Dictionaries, want)
	}
}

// If a sample next to the rounds is larger than all samples within them, it is the peak.
func TestEdgesCountForPeaks(t *testing.T) {
	of := rounds{{Begin: 10 * time.Second, End: 20 * time.Second}}
	measurements := []measurement{newHeap(of), newDictionaries(of), newMemory(of)}
	for _, sample := range []struct {
		at          time.Duration
		bytes, free int64
	}{{9 * time.Second, 500, 100}, {15 * time.Second, 300, 400}, {20500 * time.Millisecond, 200, 50}} {
		for _, m := range measurements {
			m.Add(&event.Event{At: sample.at, Usage: &event.Usage{NginxRSS: sample.bytes, NginxPSS: sample.bytes / 2}, Memory: &event.Memory{
				Heap: sample.bytes, Dictionaries: map[string]event.Dictionary{"configuration_data": {Capacity: 1000, Free: sample.free}},
			}}, of.at(sample.at) >= 0)
		}
	}
	var s Subject
	for _, m := range measurements {
		m.Result(&s, nil)
	}
	if want := (Heap{Start: 500, Peak: 500, End: 200}); s.Heap != want {
		t.Errorf("heap %+v, want %+v", s.Heap, want)
	}
	want := []Dictionary{{Name: "configuration_data", Capacity: 1000, StartFree: 100, LeastFree: 50, EndFree: 50}}
	if !slices.Equal(s.Dictionaries, want) {
		t.Errorf("dictionaries %+v, want %+v", s.Dictionaries, want)
	}
	if want := (Memory{StartRSS: 500, PeakRSS: 500, EndRSS: 200, StartPSS: 250, PeakPSS: 250, EndPSS: 100, Growth: 0.4}); s.Memory != want {
		t.Errorf("memory %+v, want %+v", s.Memory, want)
	}
}

// A controller that reports nothing has neither a heap nor dictionaries.
func TestNothingReported(t *testing.T) {
	of := rounds{{Begin: 0, End: 20 * time.Second}}
	var s Subject
	for _, m := range []measurement{newHeap(of), newDictionaries(of)} {
		m.Add(&event.Event{At: time.Second, Usage: &event.Usage{NginxRSS: 1}}, true)
		m.Result(&s, nil)
	}
	if s.Heap != (Heap{}) || s.Dictionaries != nil {
		t.Errorf("%+v, %+v", s.Heap, s.Dictionaries)
	}
}
