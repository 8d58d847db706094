package fault

import "time"

// Hit is a line of the log: a fault that hit, with the version at which it did.
type Hit struct {
	Fault   string
	Number  int       // of the hits of this injection, from 1
	Time    time.Time // measured; a replay goes by the version
	Version uint64    // the server's newest resourceVersion
	Request           // empty when it hit the server as a whole
	Error   string    `json:",omitempty"` // why it failed to
}
