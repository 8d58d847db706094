package fault

import "time"

// DelayedEvents holds a watcher back, events and bookmarks in their order, by
// at least d and less than twice that.
func DelayedEvents(d time.Duration) Fault {
	return Fault{
		Name:    "delayed-events",
		Applies: func(c *Call) bool { return c.Events > 0 },
		Stream: func(c *Call) Step {
			c.Wait(d)
			return Step{}
		},
	}
}
