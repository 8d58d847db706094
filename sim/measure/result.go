// Package measure computes numbers from the log of a run. It stands between the event log and the
// reports, with one file per measurement. Its one rule: it is pure, and all it knows about a run is
// in the log.
package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// Schema is the version of result.json. Within a version, fields may be added, but none is removed
// or changes its meaning.
const Schema = "windtunnel.dev/result/v1"

// Result contains the measurements of one run.
type Result struct {
	Schema   string    `json:"schema"`   // the version of this format
	Run      event.Run `json:"run"`      // what was run, from what, where
	Cut      bool      `json:"cut"`      // the run was interrupted; the figures cover its log so far
	Subjects []Subject `json:"subjects"` // in the order of the scenario
}

// Subject contains the measurements of one subject, over its rounds. The JSON names are the names
// that expectations use.
type Subject struct {
	Name     string        `json:"name"`     // as in the scenario
	Rounds   int           `json:"rounds"`   // number of measured rounds
	Measured time.Duration `json:"measured"` // total duration of its rounds

	Valid   bool     `json:"valid"`             // whether its figures say something about it
	Invalid []string `json:"invalid,omitempty"` // why this run says nothing about the subject

	Changes  Changes  `json:"changes"`
	Faults   int      `json:"faults"`           // number of faults
	Struck   []Struck `json:"struck,omitempty"` // what the faults struck, by name
	Reloads  int      `json:"reloads"`          // seen from outside: new generations of workers
	Posts    Posts    `json:"posts"`
	Syncs    Syncs    `json:"syncs"`
	Start    Start    `json:"start"`
	Converge Converge `json:"converge"`
	Reviews  Reviews  `json:"reviews"`
	Probe    Probe    `json:"probe"`
	Requests Requests `json:"requests"` // all lanes
	// Outage is the longest time in which no request succeeded: from the first
	// that failed until the next that did not, by intended send time.
	Outage       time.Duration `json:"outage"`
	Lanes        []Lane        `json:"lanes,omitempty"` // each lane
	Balance      Balance       `json:"balance"`
	Certificates Certificates  `json:"certificates"`
	Workers      Workers       `json:"workers"`
	Memory       Memory        `json:"memory"`
	Heap         Heap          `json:"heap,omitzero"`
	Dictionaries []Dictionary  `json:"dictionaries,omitempty"` // by name
	Trend        Trends        `json:"trend"`
	CPU          CPU           `json:"cpu"`
	Trouble      []string      `json:"trouble,omitempty"` // unexpected observations, in words
	// Reported is what the controllers of an observed installation reported about themselves.
	Reported Reported `json:"reported"`
	// PodSockets is how the simulated pods listened; its mode is empty if they were real pods.
	PodSockets event.PodSockets `json:"podSockets"`
	// Launcher is the launcher that ran the controller, without capabilities; absent if there was none.
	Launcher event.Launcher `json:"launcher,omitzero"`
	// NotApplicable are the measurements that the subject cannot have, or that nothing can see. An
	// expectation that depends on one of them is neither met nor failed.
	NotApplicable []NotApplicable `json:"notApplicable,omitempty"`
	// Clocks are the clocks of pods on other machines that took part in the run.
	Clocks []Clock `json:"clocks,omitempty"`
	// Missing are observations that the log lacks; if there are any, the run is void.
	Missing []event.Missing `json:"missing,omitempty"`
}

// Changes counts the changes of the cluster by outcome.
type Changes struct {
	Made        int `json:"made"`        // all
	Failed      int `json:"failed"`      // the API refused them
	Converged   int `json:"converged"`   // every live worker served them
	Superseded  int `json:"superseded"`  // a later change undid them before every worker had served them
	Unconverged int `json:"unconverged"` // not served by every worker when the round ended
	Unwatched   int `json:"unwatched"`   // no answer can show them: they moved no pod, or a pod of a service without a host, and have no `see`
}

// Struck counts what the faults of one name struck. If a fault strikes nothing
// although the subject is running, the run is void.
type Struck struct {
	Name   string `json:"name"`
	Count  int    `json:"count"`  // how much they struck, in total
	Of     string `json:"of"`     // unit of count: requests, workers, files …
	Times  int    `json:"times"`  // how often such a fault began
	Missed int    `json:"missed"` // of those times, the fault struck nothing
	Failed int    `json:"failed"` // of those times, the fault could not be made
	Absent int    `json:"absent"` // of those times, the subject was not running: its controller or nginx had ended; neither missed nor failed
	Untold int    `json:"untold"` // of those times, the log lacks the result
}

// Balance describes how evenly requests were distributed over pods, for services whose pods stayed
// the same and got enough requests.
type Balance struct {
	Services int     `json:"services"` // number of such services
	Hottest  float64 `json:"hottest"`  // the largest share of one pod, relative to its fair share; 1: all got the same; 0: no such services
	Idle     int     `json:"idle"`     // pods without requests
}

// Start describes all starts of the controller: the longest times, and the sums of the URLs that
// were requested at the moment it first reported healthy.
type Start struct {
	Count    int           `json:"count"`
	Healthy  time.Duration `json:"healthy"`  // until it reported healthy
	Served   time.Duration `json:"served"`   // until all URLs of the population were served
	Asked    int           `json:"asked"`    // URLs
	Unserved int           `json:"unserved"` // URLs that no pod answered then
}

// Probe counts the connections to the workers, over which convergence is measured. Each
// round opens new connections and counts its workers again.
type Probe struct {
	Connections int `json:"connections"` // opened, including those that reached a worker which already had one
	Workers     int `json:"workers"`     // that were reached
	Unreached   int `json:"unreached"`   // workers that accepted connections at the end of a round, but gave none to the probes
}

// Posts counts dynamic updates.
type Posts struct {
	Visible bool  `json:"visible"` // the controller reports them; otherwise the other fields are meaningless
	Count   int   `json:"count"`   // dynamic updates
	Bytes   int64 `json:"bytes"`   // their size
}

// Syncs counts the controller's syncs, if it reports them.
type Syncs struct {
	Count  int          `json:"count"`  // all that the controller reports
	Failed int          `json:"failed"` // of those; meaningless if posts are not visible
	Phases ReloadPhases `json:"phases,omitzero"`
}

// ReloadPhases divides syncs that reload, if the controller reports their phases.
type ReloadPhases struct {
	Render      Durations `json:"render"`      // of the configuration
	Test        Durations `json:"test"`        // nginx -t
	Signal      Durations `json:"signal"`      // nginx -s reload
	FirstWorker Durations `json:"firstWorker"` // from the signal until there is a new worker
}

// Converge describes how long changes took to be served. A worker serves a change if new pods
// answer and old ones no longer do.
type Converge struct {
	First Durations `json:"first"` // from the intent of a change until the first worker served it
	Last  Durations `json:"last"`  // from the intent of a change until every worker served it
	// Granularity is the time between two polls of the same worker for the same change; no time
	// above is finer than this.
	Granularity Durations    `json:"granularity"`
	Legs        LegDurations `json:"way"`   // where the time of a change went
	Flaps       int          `json:"flaps"` // old answers from a worker after a new one
	// Between is how long workers gave answers that matched neither the state before a change nor
	// the state after it, such as the 503 of a new host whose backend is not known yet. It covers
	// changes that have a `see`, and new hosts.
	Between Durations `json:"between"`
}

// Durations summarises a set of durations. N is the size of the set; if it is 0, all fields are 0.
type Durations struct {
	N   int           `json:"n"`
	P50 time.Duration `json:"p50"`
	P90 time.Duration `json:"p90"`
	P99 time.Duration `json:"p99"`
	Max time.Duration `json:"max"`
}

// Requests counts requests by outcome.
type Requests struct {
	Due    int `json:"due"`    // requests that were due, including those cut off by the end of a round
	Missed int `json:"missed"` // of those, never sent: the generator fell behind
	Sent   int `json:"sent"`   // sent, and finished by the end of their round
	// Unanswered are the requests without a response that the harness cancelled, a second after the
	// end of their round. They count neither as good nor as failed. Requests with a chosen length
	// are excluded.
	Unanswered int            `json:"unanswered"`
	Failed     int            `json:"failed"` // of those that were sent
	Causes     map[string]int `json:"causes"` // failed, by cause
	// Departed are the failures with the cause nginx-5xx that occurred while a pod of their
	// service, removed by a change, was gone and a worker may still have used it.
	Departed int `json:"departed"`
	// Bound is the upper bound of the failure rate, 0 to 1, at 95 % confidence
	// when none failed: the rule of three, 3/Sent. It is the observed rate otherwise.
	Bound       float64   `json:"bound"`
	Unexplained int       `json:"unexplained"` // failed without a known cause
	Retries     int       `json:"retries"`     // silent repetitions by the HTTP client
	Sockets     int       `json:"sockets"`     // opened
	Latency     Durations `json:"latency"`     // of requests with a response, from the intended send time; without lanes whose requests have a chosen length
	Lag         Durations `json:"lag"`         // the generator's own
	// Stale describes the answers of pods that a change had taken out of their service: the time
	// from the intent of the change until the request was sent.
	Stale Durations `json:"stale"`
}

// Lane is the Requests of one lane.
type Lane struct {
	Name string `json:"name"`
	Requests
	// Lasted is how long the requests took, from the intended send time, in lanes
	// where the client chooses the length: streams, slow answers, uploads and
	// downloads that did not fail. Such lanes have no latency.
	Lasted Durations `json:"lasted"`
}

// Certificates describes when clients of the TLS lanes saw changed certificates.
type Certificates struct {
	Changed int `json:"changed"` // changes of certificates
	Unseen  int `json:"unseen"`  // no client saw them before their round ended
	// First is from the intent of a change until a client got a response under the new certificate.
	// Last is until the last request was sent that still saw the old one; it equals First if there
	// was none. Limited by the rate of requests to a host.
	First Durations `json:"first"`
	Last  Durations `json:"last"`
}

// Workers describes the worker processes of nginx or another proxy.
type Workers struct {
	Generations int       `json:"generations"`       // seen in the rounds
	Alive       int       `json:"alive"`             // most generations alive at once
	Most        int       `json:"most"`              // most workers alive at once
	Replaced    int       `json:"replaced"`          // workers present at the beginning that were gone at the end
	Exited      int       `json:"exited"`            // workers that ended
	Crashed     int       `json:"crashed"`           // of those, by a signal or with a code other than 0; not by SIGUSR1 while draining, which tells HAProxy's to finish
	Untold      int       `json:"untold"`            // of those, the exit status is unknown
	Draining    int       `json:"draining"`          // workers that drained when the last round ended
	Drained     Durations `json:"drained"`           // time from the moment a worker was told to finish until it was gone
	First       []int     `json:"first,omitempty"`   // PIDs of the workers that accepted connections when the first round began
	Last        []int     `json:"last,omitempty"`    // PIDs of the workers that accepted connections when the last round ended
	History     []History `json:"history,omitempty"` // of each generation that lived between the first round and the last, oldest first
	// Left is the drain curve: what is left of the generations that began to drain in the rounds or
	// between them, for each whole second since they did. It ends when nothing is left, when the last
	// round ends, or after five minutes. Generations that were gone before they were seen to drain are
	// not included.
	Left []Left `json:"left,omitempty"`
}

// History is the life of one generation of workers. Times are since the start of the run; -1: not
// by the end of the last round.
type History struct {
	Master     int            `json:"master"` // PID
	Generation int            `json:"generation"`
	Workers    int            `json:"workers"`  // number of workers that it ever had
	Began      time.Duration  `json:"began"`    // when its first worker was seen
	Draining   time.Duration  `json:"draining"` // when its first worker was seen to drain
	Ended      time.Duration  `json:"ended"`    // when its last worker was gone
	PeakRSS    int64          `json:"peakRSS"`  // bytes, summed over its workers; 0: not sampled
	PeakPSS    int64          `json:"peakPSS"`  // the same
	Held       Held           `json:"held"`
	Exits      map[string]int `json:"exits"` // exits of its workers by status: "code 0", "SIGKILL", "untold"
}

// Left is a point of a drain curve: means over the generations that were seen for so long. A
// generation whose workers are all gone counts with zeros.
type Left struct {
	After       time.Duration `json:"after"`       // since the generation's first worker was seen to drain
	Generations int           `json:"generations"` // that began to drain at least that long before the end of the last round
	Workers     float64       `json:"workers"`     // per generation
	Clients     float64       `json:"clients"`     // TCP connections that the workers accepted, per generation; sampled about once a second
	Pods        float64       `json:"pods"`        // TCP connections that the workers opened, per generation
}

// Held explains why a draining generation still exists: the TCP connections that its draining
// workers held open when last seen with any.
type Held struct {
	Samples int `json:"looks"`   // number of samples; 0: nothing is known
	Clients int `json:"clients"` // connections from clients
	Pods    int `json:"pods"`    // connections to pods
}

// Memory is in bytes, summed over all processes of the subject's nginx, or of another proxy. RSS
// counts shared pages in each process; PSS divides them among the processes.
type Memory struct {
	PeakRSS  int64   `json:"peakRSS"`            // over the rounds, start and end included
	PeakPSS  int64   `json:"peakPSS,omitempty"`  // over the rounds, start and end included
	StartRSS int64   `json:"startRSS"`           // when the first round began
	StartPSS int64   `json:"startPSS,omitempty"` // when the first round began
	EndRSS   int64   `json:"endRSS"`             // when the last round ended
	EndPSS   int64   `json:"endPSS,omitempty"`   // when the last round ended
	Growth   float64 `json:"growth"`             // EndRSS over StartRSS; 0: not sampled
}

// Heap is the memory of the objects of a controller in Go, garbage included, in bytes, as the
// controller reports it; 0 if it does not.
type Heap struct {
	Start int64 `json:"start"` // when the first round began
	Peak  int64 `json:"peak"`  // over the rounds, start and end included
	End   int64 `json:"end"`   // when the last round ended
}

// Dictionary is the memory of a shared dictionary of nginx's Lua, in bytes, as the controller reports
// it. Only whole free pages count as free.
type Dictionary struct {
	Name      string `json:"name"`
	Capacity  int64  `json:"capacity"`
	StartFree int64  `json:"startFree"` // when the first round began
	LeastFree int64  `json:"leastFree"` // over the rounds, start and end included
	EndFree   int64  `json:"endFree"`   // when the last round ended
}

// Trends describe the growth of memory and open files over the rounds, without their first tenth.
type Trends struct {
	NginxRSS          Trend `json:"nginxRSS"`                   // bytes
	NginxPSS          Trend `json:"nginxPSS"`                   // bytes
	NginxFiles        Trend `json:"nginxFiles"`                 // open files
	ControllerRSS     Trend `json:"controllerRSS"`              // bytes
	ControllerFiles   Trend `json:"controllerFiles"`            // open files
	ControllerHeap    Trend `json:"controllerHeap,omitzero"`    // bytes, see heap
	NginxDictionaries Trend `json:"nginxDictionaries,omitzero"` // bytes that all dictionaries use together
}

// Trend is the median slope, with the bounds of its 95 % confidence interval. N is the number of
// slopes; if it is zero, the other fields are meaningless.
type Trend struct {
	N       int     `json:"n"`       // number of slopes
	PerHour float64 `json:"perHour"` // their median
	Low     float64 `json:"low"`     // per hour
	High    float64 `json:"high"`    // per hour
}

// Reported sums up what the controllers of an observed installation reported about themselves at their
// metrics endpoints. Controllers is 0 if there are no such observations.
type Reported struct {
	Controllers int   `json:"controllers"` // whose metrics were read
	Restarts    int   `json:"restarts"`    // of those
	Reloads     int   `json:"reloads"`     // as the controllers count them
	Failed      int   `json:"failed"`      // reloads that failed
	Requests    int64 `json:"requests"`    // of all clients, as nginx counts them
	Dropped     int64 `json:"dropped"`     // connections that nginx accepted, but could not handle
	Active      int   `json:"active"`      // most connections of clients to one nginx
	// Granularity is the time between two polls of the same controller. A reload happened within it.
	Granularity Durations `json:"granularity"`
	// Late is the maximum time from the storage of a change in the API server until the API reported
	// it. The API server records whole seconds, so up to a second of it may be rounding.
	Late Durations `json:"late"`
}

// CPU is the CPU time used in the rounds.
type CPU struct {
	Nginx      time.Duration `json:"nginx"`      // all processes of nginx, or of another proxy; nginx -t included
	Controller time.Duration `json:"controller"` // of the controller, without nginx
}
