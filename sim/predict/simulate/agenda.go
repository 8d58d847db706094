package simulate

import (
	"container/heap"
	"time"
)

// agenda holds the future events, and the time of the current one.
type agenda struct {
	now   time.Duration
	heap  events
	count int // of events ever added
}

type event struct {
	at    time.Duration
	order int // of events at the same time
	do    func()
}

// at adds an event. It happens now if its time has passed.
func (a *agenda) at(t time.Duration, do func()) {
	a.count++
	heap.Push(&a.heap, event{max(t, a.now), a.count, do})
}

// after adds an event that happens some seconds from now.
func (a *agenda) after(s float64, do func()) { a.at(a.now+seconds(s), do) }

// run makes events happen up to a time, while more returns true for the time of the next one.
func (a *agenda) run(until time.Duration, more func(next time.Duration) bool) {
	for len(a.heap) > 0 && more(a.heap[0].at) {
		if a.heap[0].at > until {
			a.now = until
			return
		}
		next := heap.Pop(&a.heap).(event)
		a.now = next.at
		next.do()
	}
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = event{}
	*e = old[:len(old)-1]
	return last
}
