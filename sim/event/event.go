// Package event is the log of a run: what the steps, the traffic lanes and the
// probes saw, one JSON object a line. It stands between the harness, which
// writes it, and the measurements, which read nothing else. Its one rule: an
// event says what was seen, never what it means.
package event

import "time"

// Schema names the version of the log's format. It stands in the Run event.
const Schema = "windtunnel.dev/events/v1"

// Event is one line of the log. At is the time since the start of the run (its
// monotonic clock), in nanoseconds. Subject is the name of the subject it
// concerns, empty for the run as a whole. Exactly one of the pointers is set,
// and says what kind of event it is.
type Event struct {
	At      time.Duration `json:"at"`
	Subject string        `json:"subject,omitempty"`

	Run     *Run     `json:"run,omitempty"`
	Phase   *Phase   `json:"phase,omitempty"`
	Change  *Change  `json:"change,omitempty"`
	Written *Written `json:"written,omitempty"`
	Request *Request `json:"request,omitempty"`
	Socket  *Socket  `json:"socket,omitempty"`
	Answer  *Answer  `json:"answer,omitempty"`
	Worker  *Worker  `json:"worker,omitempty"`
	Usage   *Usage   `json:"usage,omitempty"`
	Sync    *Sync    `json:"sync,omitempty"`
	Pod     *Pod     `json:"pod,omitempty"`
	Host    *Host    `json:"host,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	Start   *Start   `json:"start,omitempty"`
	Probe   *Probe   `json:"probe,omitempty"`
	Load    *Load    `json:"load,omitempty"`
	Trouble *Trouble `json:"trouble,omitempty"`
}

// Run is the first event of a log: what was run, from what, where.
type Run struct {
	Schema      string            `json:"schema"`                // of the log
	Scenario    string            `json:"scenario"`              // its name
	Summary     string            `json:"summary,omitempty"`     // what the scenario shows, in a sentence
	Seed        uint64            `json:"seed"`                  // reproduces population and churn
	Driver      string            `json:"driver"`                // where it ran: local, container, kind
	Start       time.Time         `json:"start"`                 // the origin of all times
	Subjects    []string          `json:"subjects"`              // their names, in the order of the scenario
	Environment map[string]string `json:"environment,omitempty"` // nginx, kernel, cpus, go …
	Granularity time.Duration     `json:"granularity,omitempty"` // the largest time between two probes of a worker; 0: the default
}

// Phase marks a stretch of a subject's life. Rounds are the stretches that are
// measured: subjects take turns (A B B A), and only what lies inside a
// subject's rounds counts.
type Phase struct {
	Name  PhaseName `json:"name"`
	Round int       `json:"round,omitempty"` // from 1, for round phases
}

// PhaseName names a moment between two stretches.
type PhaseName string

// The phases in their order. A round is Begin, then ChurnEnd when its last
// change has been written, then End when it has settled or given up.
const (
	Ready      PhaseName = "ready"       // the subject serves its population
	RoundBegin PhaseName = "round-begin" // traffic and probes run
	ChurnEnd   PhaseName = "churn-end"
	RoundEnd   PhaseName = "round-end"
	Stopped    PhaseName = "stopped"
	Cut        PhaseName = "cut" // the run was interrupted: what follows was not measured
)

// Change is a change of the cluster, stamped at intent: before its API write.
// ID is unique within a subject, from 1; the same ID is the same change for
// every subject of the run.
type Change struct {
	ID      int      `json:"id"`
	Step    string   `json:"step"`              // rolling-update, apply …
	Object  string   `json:"object"`            // EndpointSlice demo/svc-017-abcde
	Service string   `json:"service,omitempty"` // namespace/name
	Host    string   `json:"host,omitempty"`    // a host that routes to Service
	Path    string   `json:"path,omitempty"`
	Added   []string `json:"added,omitempty"`   // pods that must come to serve
	Removed []string `json:"removed,omitempty"` // pods that must cease to serve
	Pods    int      `json:"pods,omitempty"`    // ready pods of the service after it
	// Certificate is what a change of a certificate brings; nil: it changes none.
	Certificate *Certificate `json:"certificate,omitempty"`
	See         *See         `json:"see,omitempty"` // what Host answers once it is live, where that is not told by pods
}

// Certificate is the certificate of a host, by its serial number in lower-case
// hexadecimal.
type Certificate struct {
	Host   string `json:"host"`
	Serial string `json:"serial"`
	Old    string `json:"old"` // the serial before
}

// See is the answer by which a change is known. What is zero may be any.
type See struct {
	Service string `json:"service,omitempty"` // namespace/name: one of its pods answers
	Status  int    `json:"status,omitempty"`
}

// By says whether an answer is the one: of a pod of that service, none for
// empty, with that status.
func (s See) By(service string, status int) bool {
	return (s.Service == "" || s.Service == service) && (s.Status == 0 || s.Status == status)
}

// Written says that the API server took a change.
type Written struct {
	Change          int    `json:"change"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Error           string `json:"error,omitempty"`
}

// Request is one request of a traffic lane, logged when it ended. The event's
// At is the time it was *meant* to be sent: latency from intent is Lag + Took.
type Request struct {
	Lane    string        `json:"lane"` // http, post …
	Method  string        `json:"method"`
	Host    string        `json:"host"`
	Service string        `json:"service"`           // the service the host routes to
	Lag     time.Duration `json:"lag"`               // sent later than meant by this much: the generator's own fault
	Took    time.Duration `json:"took"`              // from sent to the answer's last byte
	Status  int           `json:"status,omitempty"`  // 0: no answer
	Pod     string        `json:"pod,omitempty"`     // who answered: namespace/name
	Served  string        `json:"served,omitempty"`  // the service that pod belongs to
	State   string        `json:"state,omitempty"`   // the pod's state when it answered
	Retries int           `json:"retries,omitempty"` // sent again by the HTTP client, unseen by its caller
	Reused  bool          `json:"reused,omitempty"`  // went out on a connection that had served before
	Cause   Cause         `json:"cause,omitempty"`   // why it failed; empty: it did not
	Detail  string        `json:"detail,omitempty"`  // the error, in its own words
	// Lasts is the length that the client has chosen for a stream, a slow answer or a
	// slow body; 0: the request ends with its answer.
	Lasts time.Duration `json:"lasts,omitempty"`
	// Messages counts what came over a stream: server-sent events, messages of a websocket.
	Messages int `json:"messages,omitempty"`
	// Serial is that of the certificate which the client was shown, in lower-case hexadecimal.
	Serial string `json:"serial,omitempty"`
}

// Cause is why a request failed, told apart on the wire.
type Cause string

// The causes. A failed request has exactly one; Unknown is a defect of ours.
const (
	IdleClose  Cause = "idle-close"    // a reused connection was closed before any byte of the request could be served: FIN seen, no byte of an answer
	Reset      Cause = "reset"         // RST while the request was in flight
	Refused    Cause = "refused"       // nobody listened
	EOF        Cause = "eof"           // a fresh connection closed before the answer began
	Truncated  Cause = "truncated"     // the answer ended early, by FIN or RST after its first byte
	StreamCut  Cause = "stream-cut"    // a stream that had begun was ended by the other side before its time
	Corrupted  Cause = "corrupted"     // the answer is whole but not what was sent
	Timeout    Cause = "timeout"       // no answer in time
	NginxError Cause = "nginx-5xx"     // nginx made the 5xx itself (no pod answered)
	PodError   Cause = "pod-5xx"       // a pod made the 5xx
	NotFound   Cause = "not-found"     // 404 by nginx: no such host or path
	NginxOther Cause = "nginx-other"   // nginx made another answer that is not a success: 3xx, 4xx
	PodOther   Cause = "pod-other"     // a pod did
	WrongPod   Cause = "wrong-pod"     // a pod of another service answered
	GonePod    Cause = "gone-pod"      // a pod answered that was gone when the request came to it, over a connection that was kept
	Handshake  Cause = "tls-handshake" // the TLS handshake failed: an alert, or what came is not TLS
	WrongCert  Cause = "wrong-cert"    // the certificate shown is not for the host: a client that checks hangs up
	OurDialing Cause = "our-dialing"   // the generator could not open a socket: its own fault
	OurCancel  Cause = "our-cancel"    // the run ended while it was in flight: not the subject's fault
	Unknown    Cause = "unknown"
)

// Socket is a connection that a lane opened (Opened) or lost.
type Socket struct {
	Lane   string `json:"lane"`
	Opened bool   `json:"opened"`
}

// Answer is one answer that a probe had from one worker, over a connection
// known to be that worker's. At is when the answer was complete.
type Answer struct {
	Worker  int           `json:"worker"` // PID
	Change  int           `json:"change"` // the change it was asked for
	Service string        `json:"service"`
	Pod     string        `json:"pod,omitempty"`
	Served  string        `json:"served,omitempty"` // the service that pod belongs to
	Status  int           `json:"status,omitempty"`
	Took    time.Duration `json:"took"`
	Error   string        `json:"error,omitempty"`
}

// Worker is a state that an nginx worker process was first seen in, from
// outside (/proc). Generation counts the sets of workers that one master has
// started, from 1: a reload makes the next.
type Worker struct {
	PID        int         `json:"pid"`
	Master     int         `json:"master"`
	Generation int         `json:"generation"`
	State      WorkerState `json:"state"`
	Exit       *Exit       `json:"exit,omitempty"` // how an exited worker ended; nil where nothing told
}

// Exit is how a process ended: killed by a signal, or by itself with a code.
type Exit struct {
	Signal string `json:"signal,omitempty"` // SIGKILL, SIGSEGV …
	Code   int    `json:"code"`             // 0 where there is a signal
}

// WorkerState is a state of a worker's life.
type WorkerState string

// The states of a worker, in their order.
const (
	Active   WorkerState = "active"
	Draining WorkerState = "draining" // shutting down: finishes what it has
	Exited   WorkerState = "exited"
)

// Usage is a sample of what a subject's processes use. Generations counts the
// generations with a live worker. CPU times are totals since each process
// began, children that ended included.
type Usage struct {
	NginxRSS      int64         `json:"nginxRSS"`           // bytes, summed over all nginx processes; shared pages count in each
	NginxPSS      int64         `json:"nginxPSS,omitempty"` // bytes; shared pages divided among their users; 0: not sampled
	NginxCPU      time.Duration `json:"nginxCPU"`
	ControllerRSS int64         `json:"controllerRSS,omitempty"`
	ControllerCPU time.Duration `json:"controllerCPU"` // without its children
	ChildrenCPU   time.Duration `json:"childrenCPU"`   // the controller's ended children: nginx -t, nginx -s reload
	Workers       int           `json:"workers"`
	Generations   int           `json:"generations"`
	// Files are the open file descriptors, sockets included; 0: not sampled.
	NginxFiles      int `json:"nginxFiles,omitempty"`
	ControllerFiles int `json:"controllerFiles,omitempty"`
	// ByGeneration is each generation with a live worker, the oldest first.
	ByGeneration []Generation `json:"byGeneration,omitempty"`
}

// Generation is what the live workers of one generation use; their master's
// memory is nobody's.
type Generation struct {
	Master     int          `json:"master"` // PID
	Generation int          `json:"generation"`
	Workers    int          `json:"workers"`
	Draining   int          `json:"draining"` // of the workers
	RSS        int64        `json:"rss"`
	PSS        int64        `json:"pss,omitempty"`  // 0: not sampled
	Held       *Connections `json:"held,omitempty"` // by its draining workers; nil: not sampled
}

// Connections counts the TCP connections that workers hold open. A draining
// worker lives as long as it holds one that is in use.
type Connections struct {
	Clients int `json:"clients"` // that the workers accepted
	Pods    int `json:"pods"`    // that they opened
}

// Sync is one pass of a controller that tells us of its passes. At is its end.
type Sync struct {
	Took   time.Duration `json:"took"`
	Reload bool          `json:"reload"`
	Why    []string      `json:"why,omitempty"`
	Posts  []Post        `json:"posts,omitempty"`
	Error  string        `json:"error,omitempty"`
}

// Post is one dynamic update that a controller sent to nginx.
type Post struct {
	Path  string        `json:"path"`
	Bytes int           `json:"bytes"`
	Took  time.Duration `json:"took"`
}

// Pod is a simulated pod entering a state of its life.
type Pod struct {
	Name    string `json:"name"` // namespace/name
	Service string `json:"service"`
	Address string `json:"address"`
	State   string `json:"state"` // starting, ready, terminating, gone
}

// Host is a sample of the machine. Busy is the share of all CPU time that was
// not idle, Stolen the share that a hypervisor took, since the last sample;
// both 0 to 1.
type Host struct {
	Busy   float64 `json:"busy"`
	Stolen float64 `json:"stolen"`
}

// Trouble is something that went wrong with a subject or the harness and that
// a reader of the report should know: a process that died, a probe that could
// not look.
type Trouble struct {
	What   string `json:"what"`
	Detail string `json:"detail,omitempty"`
}

// Start is a start of a subject's controller, and what came of asking for every
// URL of the population, each over a connection of its own, at the moment at which
// the controller first called itself healthy.
type Start struct {
	Again    bool          `json:"again"`    // it had run before
	Healthy  time.Duration `json:"healthy"`  // until it reported healthy
	Served   time.Duration `json:"served"`   // until every URL was served
	Asked    int           `json:"asked"`    // URLs
	Unserved int           `json:"unserved"` // URLs that no pod answered then
}

// Probe is what it took in a round to ask every worker over a connection of its
// own. The kernel chooses who accepts a connection, so there are more of them
// than workers.
type Probe struct {
	Connections int `json:"connections"` // opened
	Workers     int `json:"workers"`     // that one of them reached
	// Unreached counts the workers that accepted connections when the round ended, but
	// to which the probes had none.
	Unreached int    `json:"unreached,omitempty"`
	Off       string `json:"off,omitempty"` // why the probes stopped early; empty: they did not
}

// Load is the number of requests that a traffic lane had to send in a round; it is
// written at the end of the round.
type Load struct {
	Lane   string `json:"lane"`
	Due    int    `json:"due"`    // requests due by then
	Missed int    `json:"missed"` // of those, never sent because the generator fell behind
}

// Fault is something that a step broke on purpose, when it struck and when it
// was healed. One that failed did not strike after all.
type Fault struct {
	Name   string `json:"name"`
	Healed bool   `json:"healed"`
	Failed bool   `json:"failed,omitempty"`
	// Struck is what it struck until it was healed; nil: not known.
	Struck *Struck `json:"struck,omitempty"`
	// Absent says that the fault struck nothing because the subject was not running:
	// neither at its start nor at its end did both the controller and nginx run.
	Absent bool `json:"absent,omitempty"`
}

// Struck is what a fault has struck.
type Struck struct {
	Count int    `json:"count"`
	Of    string `json:"of"` // requests, workers, files …
}
