package fault

// StalledWatch lets open watches send nothing, past their timeouts and also no
// bookmark, until healed; then they go on where they were.
func StalledWatch() Fault {
	return Fault{Name: "stalled-watch", Stream: func(c *Call) Step {
		c.Wait(-1)
		return Step{}
	}}
}
