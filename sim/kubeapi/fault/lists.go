package fault

import "time"

// Beginning is the version of the empty server, before its first object.
const Beginning = 1

// EmptyList answers lists and streaming lists from Beginning: well-formed, with a version to watch
// from, and empty. It does not hit requests that require a version at least as new as one that the
// client knows.
func EmptyList() Fault {
	return Fault{
		Name:    "empty-list",
		Applies: func(c *Call) bool { return c.Asked == "" || c.Asked == "0" },
		Read:    func(*Call) uint64 { return Beginning },
	}
}

// StaleRead answers lists and streaming lists at any version (resourceVersion 0) from the state
// that was current lag ago, as a server with a stale cache does, or from the oldest state in the
// history. This is legal for these reads only, so the fault hits no others.
func StaleRead(lag time.Duration) Fault {
	return Fault{
		Name:    "stale-read",
		Applies: func(c *Call) bool { return c.Asked == "0" },
		Read:    func(c *Call) uint64 { return c.VersionBefore(lag) },
	}
}
