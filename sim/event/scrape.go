package event

import "time"

// Scrape is a reading of the metrics of a controller of an observed installation. Counts of nginx that the
// metrics lack are from nginx's status page. At is the time of the answer. Counts are totals since the
// controller, or nginx, started.
type Scrape struct {
	Pod     string    `json:"pod"`               // of the controller: namespace/name, or a URL
	Started time.Time `json:"started,omitzero"`  // the controller's process, by its own clock
	Reloads *Reloads  `json:"reloads,omitempty"` // nil: it does not count them
	Nginx   *Status   `json:"nginx,omitempty"`   // nil: not reported
}

// Reloads counts the configurations that a controller has given to nginx.
type Reloads struct {
	Loaded int `json:"loaded"` // that of nginx's start included
	Failed int `json:"failed"`
	// Last is when the last one was loaded, since the start of the run, by the controller's clock;
	// it may be negative. 0 means that the controller does not report it.
	Last time.Duration `json:"last,omitempty"`
}

// Status has nginx's own counts (stub_status).
type Status struct {
	Active   int   `json:"active"`   // open connections of clients
	Accepted int64 `json:"accepted"` // connections
	Handled  int64 `json:"handled"`  // connections: fewer than Accepted if a limit was reached
	Requests int64 `json:"requests"`
}
