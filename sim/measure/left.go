package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// leftEvery is the time between two points of a drain curve, and mostLeft limits their number.
// Connections are sampled about once a second.
const (
	leftEvery = time.Second
	mostLeft  = 300
)

// heldAt is a sample of the connections that the draining workers of a generation held.
type heldAt struct {
	at          time.Duration
	connections event.Connections
}

// leftOf returns the drain curve of all generations that began to drain, up to the end of the last
// round: one point per second until nothing is left, or for as long as a generation was seen.
func leftOf(all []*history, end time.Duration) []Left {
	var curve []Left
	for after := time.Duration(0); len(curve) < mostLeft; after += leftEvery {
		point := Left{After: after}
		for _, h := range all {
			if h.Draining == none || after > end-h.Draining {
				continue
			}
			workers, held := h.left(h.Draining + after)
			point.Generations++
			point.Workers += float64(workers)
			point.Clients += float64(held.Clients)
			point.Pods += float64(held.Pods)
		}
		if point.Generations == 0 {
			break
		}
		n := float64(point.Generations)
		point.Workers, point.Clients, point.Pods = point.Workers/n, point.Clients/n, point.Pods/n
		curve = append(curve, point)
		if point.Workers == 0 {
			break
		}
	}
	return curve
}

// left returns the workers that were left at a time, and the connections that they held in the last
// sample before it, or in the first sample if there is none before.
func (h *history) left(at time.Duration) (workers int, held event.Connections) {
	workers = h.Workers
	for _, gone := range h.gone {
		if gone <= at {
			workers--
		}
	}
	if workers == 0 {
		return 0, event.Connections{}
	}
	for i, sample := range h.held {
		if i == 0 || sample.at <= at {
			held = sample.connections
		}
	}
	return workers, held
}
