package annotations

// RateLimit bounds what a client may ask for.
type RateLimit struct {
	ID             string // of the zones' variables
	Name           string
	Connections    Zone
	RPS            Zone // requests a second
	RPM            Zone // requests a minute
	LimitRate      int  // kB a second
	LimitRateAfter int  // kB
	Allowlist      []string
}

// Zone is a limit and the shared memory that counts.
type Zone struct {
	Name       string
	Limit      int
	Burst      int
	SharedSize int // MB
}
