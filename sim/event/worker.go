package event

import "time"

// Worker is a new state of an nginx worker process, as first seen in /proc. Generation numbers the
// sets of workers that one master has started, from 1: each reload starts a new one.
type Worker struct {
	Pod        string      `json:"pod,omitempty"` // of the controller, in an observation of several
	PID        int         `json:"pid"`
	Master     int         `json:"master"`
	Generation int         `json:"generation"`
	State      WorkerState `json:"state"`
	Exit       *Exit       `json:"exit,omitempty"` // how an exited worker ended; nil if unknown
}

// Exit is how a process ended: killed by a signal, or with an exit code.
type Exit struct {
	Signal string `json:"signal,omitempty"` // SIGKILL, SIGSEGV …
	Code   int    `json:"code"`             // 0 if there is a signal
}

// WorkerState is a state of a worker's life.
type WorkerState string

// The states of a worker, in their order.
const (
	Active   WorkerState = "active"
	Draining WorkerState = "draining" // shutting down: finishes its open connections
	Exited   WorkerState = "exited"
)

// Usage is a sample of the resources that a subject's processes use. Generations counts the
// generations with a live worker. CPU times are totals since each process started, including ended
// children.
type Usage struct {
	NginxRSS      int64         `json:"nginxRSS"`           // bytes, summed over all nginx processes; shared pages count for each process
	NginxPSS      int64         `json:"nginxPSS,omitempty"` // bytes, with shared pages divided among their users; 0 if not sampled
	NginxCPU      time.Duration `json:"nginxCPU"`
	ControllerRSS int64         `json:"controllerRSS,omitempty"`
	ControllerCPU time.Duration `json:"controllerCPU"` // without its children
	ChildrenCPU   time.Duration `json:"childrenCPU"`   // the controller's ended children: nginx -t, nginx -s reload
	Workers       int           `json:"workers"`
	Generations   int           `json:"generations"`
	// NginxFiles and ControllerFiles count open file descriptors, including sockets; 0 if not
	// sampled.
	NginxFiles      int `json:"nginxFiles,omitempty"`
	ControllerFiles int `json:"controllerFiles,omitempty"`
	// ByGeneration has the generations with a live worker, the oldest first.
	ByGeneration []Generation `json:"byGeneration,omitempty"`
}

// Generation is the resource usage of the live workers of one generation. The memory of their master
// belongs to no generation.
type Generation struct {
	Master     int          `json:"master"` // PID
	Generation int          `json:"generation"`
	Workers    int          `json:"workers"`
	Draining   int          `json:"draining"` // of the workers
	RSS        int64        `json:"rss"`
	PSS        int64        `json:"pss,omitempty"`  // 0 if not sampled
	Held       *Connections `json:"held,omitempty"` // by its draining workers; nil if not sampled
}

// Connections counts the TCP connections that workers keep open. A draining worker lives as long as
// one of its connections is in use.
type Connections struct {
	Clients int `json:"clients"` // connections that the workers accepted
	Pods    int `json:"pods"`    // connections that the workers opened
}
