package fault

import "time"

// Crash is a restart without the courtesy: every connection is reset, requests
// in flight are cut, and the client does not know whether they were carried out.
func Crash(down time.Duration) Fault { return outage("crash", down, false, true) }
