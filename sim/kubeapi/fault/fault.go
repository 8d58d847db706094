// Package fault describes the ways in which an API server fails, for the
// simulated one to fail in them on purpose. It stands between whoever breaks the
// server and the few points where the server lets itself be broken. Its one
// rule: a fault does only what a real server, or the network before it, can do;
// what none would ever do is in package broken.
package fault

import (
	"context"
	"net/http"
	"time"
)

// Fault is one way to fail. One that happens to the server has Happen set, any
// other has the hooks that it needs.
type Fault struct {
	Name   string
	Broken bool // no real server does this

	// Applies says whether a call is one for this fault, beyond its scope; nil: always.
	Applies func(*Call) bool

	// Serve answers a request, in its own way or by calling serve. An error, which
	// it may return only if nothing was written, is answered as a Status.
	Serve func(c *Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error
	// Stream is asked by an open watch what to do next: when it begins, when a
	// fault was injected, and before it sends events. Not before a streaming list's
	// last initial event: a client that saw some but not all tries again at once, for ever.
	Stream func(*Call) Step
	// Read returns the version to answer a list or a streaming list from, instead of the newest.
	Read func(*Call) uint64
	// Happen breaks the server as a whole and returns what heals it. What it strikes
	// are the watches that it ends.
	Happen func(Target, Scope) (heal func(), err error)
}

// Call is one request as a fault sees it.
type Call struct {
	Request
	Begins  bool   // Stream: the watch has sent nothing live yet
	Events  int    // Stream: how many events are about to be sent
	Version uint64 // of the server when the fault was injected

	// VersionBefore is the version that the resource had so long ago, for Read.
	VersionBefore func(time.Duration) uint64

	Context context.Context // of the request
	Healed  <-chan struct{} // closed when the fault is no more
	Ending  <-chan struct{} // closed when the server is stopping
	Reset   func()          // cuts the connection, as a crash does; it does not return
}

// Wait returns after d, or earlier when there is nothing left to wait for: the
// fault healed, the client left or the server is stopping. With d below zero
// only these end it.
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

// Step is what an open watch does next. The zero Step is to go on.
type Step struct {
	Order []int               // the events to send, by their place, instead of all in order
	Err   error               // end the stream with this ERROR event
	Bytes func([]byte) []byte // send this instead of the encoded events, and then end
	Cut   bool                // reset the connection then
}

// Target is what a fault may do to the server as a whole.
type Target interface {
	// Stop closes the sockets and ends all requests: cleanly, or by resetting the connections.
	Stop(reset bool)
	// Start listens again, on the same ports.
	Start() error
	// EndWatches ends the open watches that the scope covers, cleanly.
	EndWatches(Scope)
	// Forget gives up the history of the resources that the scope names.
	Forget(Scope)
	// RotateCertificate replaces the serving certificate, by one of the same CA or of a new one.
	RotateCertificate(newCA bool) (restore func(), err error)
}
