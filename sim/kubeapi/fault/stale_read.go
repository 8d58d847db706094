package fault

// StaleRead answers lists and streaming lists at any version (resourceVersion 0)
// from the state at the time of injection, as a server does whose cache lags. It
// is legal for these reads only, and it hits no others.
func StaleRead() Fault {
	return Fault{
		Name:    "stale-read",
		Applies: func(c *Call) bool { return c.Asked == "0" },
		Read:    func(c *Call) uint64 { return c.Version },
	}
}
