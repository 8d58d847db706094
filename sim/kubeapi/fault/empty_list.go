package fault

// Beginning is the version before anything was there.
const Beginning = 1

// EmptyList answers lists and streaming lists from the beginning of time, when
// there was nothing: well-formed, with a version to watch on from, and empty. It
// spares clients that ask for a state not older than one they know.
func EmptyList() Fault {
	return Fault{
		Name:    "empty-list",
		Applies: func(c *Call) bool { return c.Asked == "" || c.Asked == "0" },
		Read:    func(*Call) uint64 { return Beginning },
	}
}
