// Package event is the log of a run: the observations of the steps, the traffic lanes and the
// probes, one JSON object per line. The harness writes it; the measurements read nothing else. Its
// one rule: an event records an observation, never an interpretation.
package event

import (
	"fmt"
	"strings"
	"time"

	"windtunnel.dev/internal/plural"
)

// Schema names the version of the log's format. The Run event has it.
const Schema = "windtunnel.dev/events/v1"

// Event is one line of the log. At is the time since the start of the run, from its monotonic
// clock, in nanoseconds. Subject is the name of the subject that the event belongs to, or "" for
// the whole run. Exactly one of the pointers is set; it determines the kind of the event.
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
	Memory  *Memory  `json:"memory,omitempty"`
	Sync    *Sync    `json:"sync,omitempty"`
	Pod     *Pod     `json:"pod,omitempty"`
	Host    *Host    `json:"host,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	Start   *Start   `json:"start,omitempty"`
	Probe   *Probe   `json:"probe,omitempty"`
	Load    *Load    `json:"load,omitempty"`
	Trouble *Trouble `json:"trouble,omitempty"`
	Review  *Review  `json:"review,omitempty"`

	NotApplicable *NotApplicable `json:"notApplicable,omitempty"`
	PodSockets    *PodSockets    `json:"podSockets,omitempty"`
	Launcher      *Launcher      `json:"launcher,omitempty"`
	Logged        *Logged        `json:"logged,omitempty"`
	Clock         *Clock         `json:"clock,omitempty"`
	Missing       *Missing       `json:"missing,omitempty"`
	Scrape        *Scrape        `json:"scrape,omitempty"`
}

// Run is the first event of a log. It describes the scenario, its inputs and its environment.
type Run struct {
	Schema      string            `json:"schema"`                // of the log
	Scenario    string            `json:"scenario"`              // its name
	Summary     string            `json:"summary,omitempty"`     // what the scenario shows, in a sentence
	Seed        uint64            `json:"seed"`                  // reproduces population and churn
	Driver      string            `json:"driver"`                // where it ran: local, container, kind, cluster
	Start       time.Time         `json:"start"`                 // the origin of all times
	Subjects    []string          `json:"subjects"`              // their names, in the order of the scenario
	Images      map[string]string `json:"images,omitempty"`      // the images of the controllers, by subject; programs of the machine have none
	Programs    map[string]string `json:"programs,omitempty"`    // the paths of controllers of the machine, by subject; without that of Windtunnel
	Environment map[string]string `json:"environment,omitempty"` // nginx, kernel, cpus, go …
	Granularity time.Duration     `json:"granularity,omitempty"` // the largest time between two polls of a worker; 0: the default
	Population  *Population       `json:"population,omitempty"`  // of an imported cluster
}

// ControllerOf describes what ran as the controller of a subject, as "image NAME" or "program PATH"; empty
// if that was Windtunnel's program.
func (r Run) ControllerOf(subject string) string {
	switch {
	case r.Images[subject] != "":
		return "image " + r.Images[subject]
	case r.Programs[subject] != "":
		return "program " + r.Programs[subject]
	}
	return ""
}

// Phase is a transition in a subject's life. Only the rounds of a subject are measured: subjects
// take turns (A B B A), and a round is one turn.
type Phase struct {
	Name  PhaseName `json:"name"`
	Round int       `json:"round,omitempty"` // from 1, for round phases
}

// PhaseName names a Phase.
type PhaseName string

// The phases in their order. A round starts with RoundBegin. ChurnEnd follows when its last change
// has been written, and RoundEnd when all changes have converged or the time to settle is over.
const (
	Ready      PhaseName = "ready"       // the subject serves its population
	RoundBegin PhaseName = "round-begin" // traffic and probes are running
	ChurnEnd   PhaseName = "churn-end"
	RoundEnd   PhaseName = "round-end"
	Stopped    PhaseName = "stopped"
	Cut        PhaseName = "cut" // the run was interrupted; nothing after it is measured
)

// Change is a change of the cluster. At is the time of its intent, before its API write; for a
// change that was observed in a cluster of others, At is the time at which the API reported it. IDs
// count from 1 and are unique within a subject; the same ID means the same change for every subject
// of the run.
type Change struct {
	ID      int      `json:"id"`
	Step    string   `json:"step"`              // rolling-update, apply …
	Object  string   `json:"object"`            // such as EndpointSlice demo/svc-017-abcde
	Service string   `json:"service,omitempty"` // namespace/name
	Host    string   `json:"host,omitempty"`    // a host that routes to Service
	Path    string   `json:"path,omitempty"`
	TLS     bool     `json:"tls,omitempty"`     // Host is asked over HTTPS
	Added   []string `json:"added,omitempty"`   // pods that must start to serve
	Removed []string `json:"removed,omitempty"` // pods that must stop serving
	Pods    int      `json:"pods,omitempty"`    // ready pods of the service after the change
	// Certificate is the new certificate, if the change has one.
	Certificate  *Certificate  `json:"certificate,omitempty"`
	Confirmation *Confirmation `json:"see,omitempty"` // response of Host that shows that the change is live; nil if Added and Removed show it
	// Late is, for an observed change, the maximum time between its storage by the API server,
	// which records whole seconds, and At. 0 means that it is not known.
	Late time.Duration `json:"late,omitempty"`
}

// Certificate identifies a certificate of a host by its serial number, in lower-case hexadecimal.
type Certificate struct {
	Host   string `json:"host"`
	Serial string `json:"serial"`
	Old    string `json:"old"` // serial number of the previous certificate
}

// Confirmation is the response that shows that a change is live. A zero field matches any value.
type Confirmation struct {
	Service string `json:"service,omitempty"` // namespace/name: one of its pods answers
	Status  int    `json:"status,omitempty"`
}

// Matches reports whether a response matches. service is the service of the pod that answered, or
// "" if no pod did.
func (s Confirmation) Matches(service string, status int) bool {
	return (s.Service == "" || s.Service == service) && (s.Status == 0 || s.Status == status)
}

// Written is the API server's answer to a change. Error is empty if it accepted the change.
type Written struct {
	Change          int    `json:"change"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	Error           string `json:"error,omitempty"`
}

// Review is the API server's call of an admission webhook about a write. At is its end.
type Review struct {
	Webhook string        `json:"webhook"`         // its name
	Took    time.Duration `json:"took"`            // from the call until the answer was read
	Allowed bool          `json:"allowed"`         // by the answer
	Error   string        `json:"error,omitempty"` // why there is no answer
}

// SomeWorker is the PID in an Answer whose worker is not known.
const SomeWorker = 0

// Answer is a probe's response from one worker, over a connection that is known to belong to that
// worker. At is the time when the response was complete.
type Answer struct {
	Worker  int           `json:"worker"` // PID, or SomeWorker
	Change  int           `json:"change"` // the change that was probed
	Service string        `json:"service"`
	Pod     string        `json:"pod,omitempty"`
	Served  string        `json:"served,omitempty"` // the service of that pod
	Status  int           `json:"status,omitempty"`
	Took    time.Duration `json:"took"`
	Error   string        `json:"error,omitempty"`
}

// Sync is one sync of a controller that reports its syncs. At is its end.
type Sync struct {
	// Partial means that the report has no more than what is set here: whether the sync failed, and
	// what it posted, is not known.
	Partial bool `json:"partial,omitempty"`

	Took   time.Duration `json:"took"` // 0 in a partial report: not known
	Reload bool          `json:"reload"`
	Why    []string      `json:"why,omitempty"`
	Posts  []Post        `json:"posts,omitempty"`
	Phases *Phases       `json:"phases,omitempty"` // of a sync with a reload; nil if the controller does not report them
	Error  string        `json:"error,omitempty"`
}

// Phases are the durations of parts of a sync; 0 for a part that did not happen.
type Phases struct {
	Render      time.Duration `json:"render"`      // of the configuration
	Test        time.Duration `json:"test"`        // nginx -t
	Signal      time.Duration `json:"signal"`      // nginx -s reload
	FirstWorker time.Duration `json:"firstWorker"` // from the signal until there is a new worker
}

// Post is one dynamic update that a controller sent to nginx.
type Post struct {
	Path  string        `json:"path"`
	Bytes int           `json:"bytes"`
	Took  time.Duration `json:"took"`
}

// Pod is a simulated pod that enters a new state.
type Pod struct {
	Name    string `json:"name"` // namespace/name
	Service string `json:"service"`
	Address string `json:"address"`
	State   string `json:"state"` // starting, ready, terminating, gone
}

// PodSockets says how the simulated pods of a subject listen. It is written when the first pod becomes
// ready.
type PodSockets struct {
	Mode SocketMode `json:"mode"`          // shared or one-per-pod
	Why  string     `json:"why,omitempty"` // why they cannot share sockets
}

// SocketMode is how simulated pods listen. In both modes, the kernel refuses connections to a pod that
// is starting or gone.
type SocketMode string

// The modes.
const (
	SharedSockets SocketMode = "shared"      // all pods share one socket per port
	OwnSockets    SocketMode = "one-per-pod" // each pod has a socket for each of its ports
)

// Launcher says that a launcher runs the controller of a subject: as its child, without capabilities. It is
// written before the rounds.
type Launcher struct {
	Why string `json:"why"` // why the observer did not see the open files of the controller without it
}

// Logged says when the lines of a controller's log were written, in the file that the harness keeps of
// it. Those after Bytes were written at At, or later: within 100 ms, unless another Logged follows. It is
// written at most every 100 ms, and only when there is another line.
type Logged struct {
	Bytes int64 `json:"bytes"` // in the file before the line that was written at At
}

// Host is a sample of the machine. Busy is the share of CPU time that was not idle since the
// previous sample, Stolen the share that a hypervisor took; both are between 0 and 1. Dropped is the
// number of packets that the kernel's connection tracking has dropped since the previous sample.
type Host struct {
	Busy    float64 `json:"busy"`
	Stolen  float64 `json:"stolen"`
	Dropped int     `json:"dropped,omitempty"`
}

// Trouble is a problem of a subject or the harness that readers of the report should know about,
// such as a process that died or a probe that failed.
type Trouble struct {
	What   string `json:"what"`
	Detail string `json:"detail,omitempty"`
}

// NotApplicable says which measurements do not apply to a subject: it cannot have them, or nothing can
// see them. It is written before the subject starts.
type NotApplicable struct {
	Measurements []string `json:"measurements"` // names as in expectations; a name covers all below it
	Why          string   `json:"why"`
}

// Start is a start of a subject's controller. When the controller first reports that it is healthy,
// the harness requests every URL of the population, each over its own connection.
type Start struct {
	Again    bool          `json:"again"`    // it had run before
	Healthy  time.Duration `json:"healthy"`  // until it reported healthy
	Served   time.Duration `json:"served"`   // until every URL was served
	Asked    int           `json:"asked"`    // URLs
	Unserved int           `json:"unserved"` // URLs that no pod answered then
}

// Probe counts the connections that the probes of a round opened to have one to every worker. The
// kernel chooses the worker that accepts a connection, so there are more connections than workers.
type Probe struct {
	Connections int `json:"connections"` // opened connections
	Workers     int `json:"workers"`     // workers with a connection
	// Unreached counts the workers that accepted connections when the round ended, but to which the
	// probes had no connection.
	Unreached int    `json:"unreached,omitempty"`
	Off       string `json:"off,omitempty"` // why the probes stopped early; "" if they did not
}

// Load is the number of requests that a traffic lane had to send in a round. It is written at the
// end of the round.
type Load struct {
	Lane   string `json:"lane"`
	Due    int    `json:"due"`    // requests that were due
	Missed int    `json:"missed"` // due requests never sent, because the generator fell behind
}

// Fault is a fault of a step: written when it strikes and, with Healed, when it is healed. If it
// could not strike, a second event with Failed follows.
type Fault struct {
	Name   string `json:"name"`
	Healed bool   `json:"healed"`
	Failed bool   `json:"failed,omitempty"`
	// Struck is what the fault struck until it was healed; nil if unknown.
	Struck *Struck `json:"struck,omitempty"`
	// Absent means that the fault struck nothing because the subject was not running: the
	// controller and nginx did not both run, neither at the start of the fault nor at its end.
	Absent bool `json:"absent,omitempty"`
}

// Struck is the number of things that a fault struck.
type Struck struct {
	Count int    `json:"count"`
	Of    string `json:"of"` // requests, workers, files …
}

// Population describes a population that was imported from a user's cluster.
type Population struct {
	File      string    `json:"file"` // the scenario's name of the file
	Ingresses int       `json:"ingresses"`
	Services  int       `json:"services"`
	Pods      int       `json:"pods"`    // that are ready
	Unready   int       `json:"unready"` // pods that are not
	Targets   int       `json:"targets"` // hosts and paths that requests ask for
	LeftOut   []LeftOut `json:"leftOut"` // sorted by reason
}

// LeftOut is what requests do not ask for, or what was not loaded, for one reason.
type LeftOut struct {
	Why   string   `json:"why"`
	Count int      `json:"count"`
	Names []string `json:"names,omitempty"` // of all of it, where it has names
}

// String returns the count, the reason and the first names.
func (l LeftOut) String() string {
	const shown = 3
	text := fmt.Sprintf("%d × %s", l.Count, l.Why)
	switch {
	case len(l.Names) > shown:
		return fmt.Sprintf("%s (%s and %s)", text, strings.Join(l.Names[:shown], ", "), plural.Of(len(l.Names)-shown, "other"))
	case len(l.Names) > 0:
		return fmt.Sprintf("%s (%s)", text, strings.Join(l.Names, ", "))
	}
	return text
}
