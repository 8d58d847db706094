package fault

// No real API server does what the faults in this file do to an open watch: it loses events
// without ending the stream, repeats events, or sends them out of order. They show what a
// client does when its server breaks the rules. A server accepts them only if it was started
// with Options.Broken.

// DroppedEvents leaves events out.
func DroppedEvents() Fault {
	return broken("broken-drop", 1, func(int) []int { return []int{} })
}

// DuplicatedEvents sends every event twice.
func DuplicatedEvents() Fault {
	return broken("broken-duplicate", 1, func(n int) []int {
		var order []int
		for i := range n {
			order = append(order, i, i)
		}
		return order
	})
}

// ReorderedEvents sends events that are ready together in reverse order, if there are at
// least two.
func ReorderedEvents() Fault {
	return broken("broken-reorder", 2, func(n int) []int {
		var order []int
		for i := range n {
			order = append(order, n-1-i)
		}
		return order
	})
}

// broken returns a fault that hits a watch with at least atLeast events to send. order returns the
// indexes of the events to send instead.
func broken(name string, atLeast int, order func(events int) []int) Fault {
	return Fault{
		Name: name, Broken: true,
		Applies: func(c *Call) bool { return c.Events >= atLeast },
		Stream:  func(c *Call) Step { return Step{Order: order(c.Events)} },
	}
}
