// Package broken holds what no real API server does to an open watch: events lost
// without an end of the stream, doubled, or out of order. It is for finding out what a
// client does when its server breaks the rules; a server takes these
// faults only when it was started to be broken.
package broken

import "windtunnel.dev/sim/kubeapi/fault"

// Drop leaves events out.
func Drop() fault.Fault {
	return unlawful("broken-drop", 1, func(int) []int { return []int{} })
}

// Duplicate sends every event twice.
func Duplicate() fault.Fault {
	return unlawful("broken-duplicate", 1, func(n int) []int {
		var order []int
		for i := range n {
			order = append(order, i, i)
		}
		return order
	})
}

// Reorder sends events that are ready together, if they are at least two, last first.
func Reorder() fault.Fault {
	return unlawful("broken-reorder", 2, func(n int) []int {
		var order []int
		for i := range n {
			order = append(order, n-1-i)
		}
		return order
	})
}

func unlawful(name string, atLeast int, order func(events int) []int) fault.Fault {
	return fault.Fault{
		Name: name, Broken: true,
		Applies: func(c *fault.Call) bool { return c.Events >= atLeast },
		Stream:  func(c *fault.Call) fault.Step { return fault.Step{Order: order(c.Events)} },
	}
}
