// Package fault describes how an API server fails, so that the simulated one can fail in the same
// ways. It stands between the code that injects a fault and the few points where the server
// consults its faults. Its one rule: a fault does only what a real server, or the network in front
// of it, can do; the faults in broken.go are the exception.
//
// A new fault belongs in the file for its target: requests, lists, watches or the server.
package fault

import (
	"context"
	"net/http"
	"time"
)

// Fault is one way to fail. A fault of the server as a whole sets Happen, any other sets the
// hooks that it needs.
type Fault struct {
	Name   string
	Broken bool // no real server does this

	// Applies reports whether the fault hits a call that is in its scope; nil: always.
	Applies func(*Call) bool

	// Serve answers a request, in its own way or by calling serve. It may return an error
	// only if it has written nothing; the client gets the error as a Status.
	Serve func(c *Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error
	// Stream returns what an open watch does next. The watch calls it when it begins, when a fault
	// was injected, and before it sends events, but not before the last initial event of a
	// streaming list: a client that saw some events but not all retries at once, forever.
	Stream func(*Call) Step
	// Read returns the version to answer a list or a streaming list from, instead of the newest.
	Read func(*Call) uint64
	// Happen breaks the server as a whole and returns a function that heals it. The watches
	// that it ends count as struck.
	Happen func(Target, Scope) (heal func(), err error)
}

// Call is one request, as a fault sees it.
type Call struct {
	Request
	Begins  bool   // Stream: the watch has sent nothing live yet
	Events  int    // Stream: how many events are about to be sent
	Version uint64 // of the server when the fault was injected

	// VersionBefore returns the version that the resource had this long ago, for Read.
	VersionBefore func(time.Duration) uint64

	Context context.Context // of the request
	Healed  <-chan struct{} // closed when the fault is over
	Ending  <-chan struct{} // closed when the server is stopping
	Reset   func()          // cuts the connection, as a crash does; it does not return
}

// Wait returns after d, or earlier if the fault is healed, the client left or the server is
// stopping. If d is negative, Wait does not time out.
func (c *Call) Wait(d time.Duration) {
	var over <-chan time.Time
	if d >= 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-over:
	case <-c.Healed:
	case <-c.Context.Done():
	case <-c.Ending:
	}
}

// Step is the next action of an open watch. The zero Step sends the events and goes on.
type Step struct {
	Order []int               // indexes of the events to send, instead of all in order
	Err   error               // end the stream with this ERROR event
	Bytes func([]byte) []byte // send the returned bytes instead of the encoded events, and then end
	Cut   bool                // reset the connection after that
}

// Target is the part of the server that a fault of the server as a whole can use.
type Target interface {
	// Stop closes the sockets and ends all requests: cleanly, or by resetting the connections.
	Stop(reset bool)
	// Start listens again, on the same ports.
	Start() error
	// EndWatches ends the open watches that the scope covers, cleanly.
	EndWatches(Scope)
	// Forget drops the history of the resources that the scope names.
	Forget(Scope)
	// RotateCertificate replaces the serving certificate by one of the same CA or of a new CA.
	RotateCertificate(newCA bool) (restore func(), err error)
}

// Hit is the log entry for one hit of a fault.
type Hit struct {
	Fault   string
	Number  int       // of the hits of this injection, from 1
	Time    time.Time // measured; a replay uses the version instead
	Version uint64    // the server's newest resourceVersion
	Request           // empty when it hit the server as a whole
	Error   string    `json:",omitempty"` // why the fault failed
}
