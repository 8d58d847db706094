package run

import (
	"sync"

	"windtunnel.dev/sim/event"
)

const (
	mostWhys    = 3   // how many reasons of a change are kept
	longestWhy  = 120 // characters
	abbreviated = "…"
)

// whys are the reasons that a controller reports for its syncs, if it reports them.
type whys struct {
	mu  sync.Mutex
	all []string // the first ones since the last reset
}

// see keeps the reasons of a sync.
func (w *whys) see(e event.Event) {
	if e.Sync == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, why := range e.Sync.Why {
		if len(w.all) < mostWhys {
			w.all = append(w.all, shortened(why))
		}
	}
}

// any reports whether there is a reason since the last reset.
func (w *whys) any() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.all) > 0
}

// take returns the reasons, and resets them.
func (w *whys) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.all
	w.all = nil
	return all
}

func shortened(text string) string {
	runes := []rune(text)
	if len(runes) <= longestWhy {
		return text
	}
	return string(runes[:longestWhy]) + abbreviated
}
