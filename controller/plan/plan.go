// Package plan decides what nginx needs to be told. It stands between the
// model of the wanted configuration and apply, which performs the steps. Its
// one rule: decide by the bytes that nginx would read, never by fields.
package plan

import "windtunnel.dev/controller/wire"

// State is what nginx reads, as bytes: the running one and the wanted one are
// compared as they are. Checksums and times do not belong in it. Files and
// Servers have private keys in them: they are not for logs.
type State struct {
	Conf      []byte            // nginx.conf
	LuaConfig []byte            // lua/cfg.json, read by Lua at start: a change needs a reload
	Files     map[string][]byte // by path: what else nginx reads at start
	Backends  wire.List         // what POST /configuration/backends says
	Stream    wire.List         // what the line to the stream port says; nil where Lua does not balance TCP and UDP
	Servers   []byte            // body of POST /configuration/servers
	// Passthrough is what the controller's own TLS listener is told
	// (wire.Passthrough); nil where there is none.
	Passthrough []byte

	// Foreign are files that others write and nginx reads when it starts, by
	// path, each with what changes when it does.
	Foreign map[string]string

	Tracing map[string][]byte // files of tracers, by path, read when nginx starts

	TakesDeltas bool // Lua takes changes of backends instead of all of them
	DeltaBytes  int  // planned as changes since all backends were
}

// StepKind says what a step does.
type StepKind string

// The kinds of step, in the order they are performed: the reload first, as
// ingress-nginx does it, so that a backend is known when its location is.
const (
	Reload       StepKind = "reload"        // write the files, nginx -t, signal
	Pass         StepKind = "pass"          // tell our own TLS listener
	PostBackends StepKind = "post-backends" // POST /configuration/backends
	SendStream   StepKind = "send-stream"   // the line to the stream port
	PostServers  StepKind = "post-servers"  // POST /configuration/servers
)

// Step is one thing to do, with what it needs and why it is needed.
type Step struct {
	Kind StepKind
	Next State // what holds after the step
	Why  []Why // at least one, and at most 21: the last then says how many more

	// Delta is enough to send in the place of all backends, if Lua has those of
	// the state before. It is nil where all must be sent.
	Delta []byte
}

// Why is one reason for a step, in the words of nginx.conf: the server, the
// location and the line that changed; of cfg.json and of backends, which have
// neither server nor location, the setting or endpoint that changed. Fields
// that say nothing are empty: without Old something came, without New it went.
type Why struct {
	Server   string
	Location string
	Old, New string
}
