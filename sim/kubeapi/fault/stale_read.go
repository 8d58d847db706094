package fault

import "time"

// StaleRead answers lists and streaming lists at any version (resourceVersion 0)
// from the state of so long ago, as a server does whose cache lags, or from the oldest
// that is still known. It is legal for these reads only, and it hits no others.
func StaleRead(lag time.Duration) Fault {
	return Fault{
		Name:    "stale-read",
		Applies: func(c *Call) bool { return c.Asked == "0" },
		Read:    func(c *Call) uint64 { return c.VersionBefore(lag) },
	}
}
