package fault

import (
	"sync"
	"time"
)

// Restart stops the server cleanly, which ends all watches, and starts it again after down, or when
// the fault is healed if down is 0. Unless the server keeps its history, a watch that resumes from
// before the restart gets 410, as after a real restart.
func Restart(down time.Duration, keepHistory bool) Fault {
	name := "restart"
	if keepHistory {
		name = "restart-with-history"
	}
	return outage(name, down, keepHistory, false)
}

// Crash is a restart without a clean stop: it resets every connection and cuts the requests in
// flight, so the client does not know whether they were carried out.
func Crash(down time.Duration) Fault { return outage("crash", down, false, true) }

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

// EndedWatches ends the open watches once, as ClosedWatch does; clients may reconnect at
// once.
func EndedWatches() Fault {
	return Fault{Name: "ended-watches", Happen: func(t Target, s Scope) (func(), error) {
		t.EndWatches(s)
		return func() {}, nil
	}}
}

// Compaction drops the history of the scope's resources. After that, these requests get 410:
// watches that resume, further pages of lists, and lists of an exact version. Open watches go on.
// There is nothing to heal.
func Compaction() Fault {
	return Fault{Name: "compaction", Happen: func(t Target, s Scope) (func(), error) {
		t.Forget(s)
		return func() {}, nil
	}}
}

// CertificateRotation replaces the serving certificate. New handshakes see the new one; open
// connections go on. With a new CA, clients that know only the old CA refuse the server until
// the fault is healed. With the old CA there is nothing to heal.
func CertificateRotation(newCA bool) Fault {
	return Fault{Name: "certificate-rotation", Happen: func(t Target, _ Scope) (func(), error) {
		restore, err := t.RotateCertificate(newCA)
		if !newCA {
			restore = func() {}
		}
		return restore, err
	}}
}
