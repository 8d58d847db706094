package fault

import (
	"sync"
	"time"
)

// Restart stops the server cleanly, all watches with it, and starts it again
// after down, or when healed if down is 0. Unless it keeps its history, every watch
// that resumes from before is told that it is too late, as after a real restart.
func Restart(down time.Duration, keepHistory bool) Fault {
	name := "restart"
	if keepHistory {
		name = "restart-with-history"
	}
	return outage(name, down, keepHistory, false)
}

func outage(name string, down time.Duration, keepHistory, reset bool) Fault {
	return Fault{Name: name, Happen: func(t Target, _ Scope) (func(), error) {
		t.Stop(reset)
		if !keepHistory {
			t.Forget(Scope{})
		}
		up := sync.OnceFunc(func() { t.Start() }) // the target logs a failure
		if down == 0 {
			return up, nil
		}
		timer := time.AfterFunc(down, up)
		return func() { timer.Stop(); up() }, nil
	}}
}
