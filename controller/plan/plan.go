// Package plan decides which steps bring nginx to the wanted configuration. It stands between the
// model and apply, which performs the steps. Its one rule: compare the bytes that nginx would read,
// never fields.
package plan

import (
	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/wire"
)

// State contains everything that nginx reads, as bytes or as values that have one encoding. The
// running and the wanted state are compared whole, so checksums and times do not belong in it.
// Files and Certificates contain private keys and must not be logged.
type State struct {
	Conf         conf.Text         // nginx.conf
	LuaConfig    []byte            // lua/cfg.json, which Lua reads at start: a change needs a reload
	Files        map[string][]byte // other files that nginx reads at start, by path
	Backends     wire.List         // for POST /configuration/backends
	Stream       wire.List         // for the stream port; not sent if Lua does not balance TCP and UDP
	Certificates wire.Certificates // for POST /configuration/servers
	// Passthrough is the configuration of the controller's own TLS listener (a wire.Passthrough as
	// JSON); nil if there is none.
	Passthrough []byte

	// Foreign are files that nginx reads at start but the controller does not write. It maps each
	// path to a text that changes when the file does.
	Foreign map[string]string

	Tracing map[string][]byte // tracer files that nginx reads at start, by path

	// Unsure is set after a reload that failed halfway: nginx may run another configuration, and
	// its Lua may have lost its data.
	Unsure bool

	AcceptsDeltas bool // whether Lua accepts deltas of backends
	DeltaBytes    int  // bytes of the deltas since the last full POST of backends
}

// StepKind is the kind of a step.
type StepKind string

// Steps are performed in this order. As in ingress-nginx, the reload comes first: nginx.conf has a
// new location before Lua has its backend.
const (
	Reload       StepKind = "reload"        // write the files, nginx -t, signal
	Pass         StepKind = "pass"          // configure the controller's own TLS listener
	PostBackends StepKind = "post-backends" // POST /configuration/backends
	SendStream   StepKind = "send-stream"   // send a line to the stream port
	PostServers  StepKind = "post-servers"  // POST /configuration/servers
)

// Step is one action, with its target state and the reasons for it.
type Step struct {
	Kind StepKind
	Next State // the state after the step
	Why  []Why // 1 to 20 reasons; if there are more, the 21st gives their number

	// Delta is the body to send instead of all backends, if Lua has those of the previous state;
	// nil if all must be sent.
	Delta []byte
}

// Why is one reason for a step. For nginx.conf it contains the server, the location and the changed
// line. For cfg.json and backends, Server and Location are empty, and it contains the changed
// setting or endpoint. Old is empty for an addition, New for a removal.
type Why struct {
	Server   string
	Location string
	Old, New string
}
