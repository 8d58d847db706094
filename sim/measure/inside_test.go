package measure

import (
	"slices"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// The values at the edges are those next to the rounds; peaks are of the rounds alone.
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

// A controller that says nothing has neither.
func TestNothingSaid(t *testing.T) {
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
