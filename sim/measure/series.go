package measure

import "time"

// Series contains the data for the plots of a report, with subjects in the order of Result.
type Series struct {
	Subjects []Timeline `json:"subjects"`
}

// Timeline is the run of one subject over time. All times are since the start of the run.
type Timeline struct {
	Name    string        `json:"name"`
	Rounds  []Round       `json:"rounds"`
	Width   time.Duration `json:"width"` // width of a bin
	Bins    []Bin         `json:"bins"`  // the bins of all rounds in order, including empty ones; none outside of rounds
	Reloads []Reload      `json:"reloads"`
	Changes []Served      `json:"changes"` // in the order of their intents
	Faults  []Broken      `json:"faults,omitempty"`
	// Proportional reports whether the layers of the bins are PSS, which adds up. If PSS was never
	// sampled, they are RSS, which counts shared pages for each process.
	Proportional bool   `json:"proportional"`
	Heat         []Heat `json:"heat,omitempty"` // one per lane

	Moments      []Moment `json:"-"` // in which requests failed, in order
	OtherMoments int      `json:"-"` // number of moments with fewer failed requests, which Moments omits
	Logged       []Logged `json:"-"` // in the order of At
}

// Bin summarises the time from At for the width of a bin, or until the end of the round.
type Bin struct {
	At          time.Duration  `json:"at"`
	Requests    int            `json:"requests"`           // requests that were meant to be sent in this bin
	Failures    map[string]int `json:"failures,omitempty"` // of those, by cause
	P50         time.Duration  `json:"p50"`                // latency from the intended send time, of answered requests without a chosen length
	P99         time.Duration  `json:"p99"`
	Max         time.Duration  `json:"max"`
	Changes     int            `json:"changes"`
	Generations int            `json:"generations"`   // most alive at once
	RSS         int64          `json:"rss,omitempty"` // bytes, the most sampled; 0: no sample
	// Layers are the memory of each live generation, in bytes: the newest first. The last of six
	// layers includes all older generations. There are none before the first sample.
	Layers []int64 `json:"layers,omitempty"`
}

// Heat is the distribution of the latencies of a lane's answered requests over time. For a lane
// whose requests have a chosen length, it is the distribution of their durations.
type Heat struct {
	Lane    string        `json:"lane"`
	Width   time.Duration `json:"width"`   // width of a column
	Columns []Column      `json:"columns"` // columns with an answered request, in order
}

// Column counts requests by latency, for those that were meant to be sent from At for the width of
// a column, or until the end of the round. Row n contains latencies from 10^(n/HeatRows) µs up to,
// but excluding, 10^((n+1)/HeatRows) µs. Row 0 also contains all lower latencies.
type Column struct {
	At   time.Duration `json:"at"`
	Rows map[int]int   `json:"rows"`
}

// Reload is a new generation of workers, at the time when it was first seen.
type Reload struct {
	At         time.Duration `json:"at"`
	Generation int           `json:"generation"`
}

// Broken is a time range in which a fault was active.
type Broken struct {
	Name   string        `json:"name"`
	From   time.Duration `json:"from"`
	Until  time.Duration `json:"until"` // the end of its round, if the fault was not healed earlier
	healed bool
}

// Fate is the outcome of a change.
type Fate string

// Possible fates of a change.
const (
	Failed      Fate = "failed"      // the API refused it
	Converged   Fate = "converged"   // every worker serves it
	Superseded  Fate = "superseded"  // a later change undid it before every worker served it
	Unconverged Fate = "unconverged" // its round ended before every worker served it
	Unwatched   Fate = "unwatched"   // it moves no pod, so there is nothing to observe
)

// Served is a change, and when it was served. First and Last are since the intent. They are -1 if
// no worker, or not every worker, began to serve the change.
type Served struct {
	ID     int           `json:"id"`
	At     time.Duration `json:"at"` // time of the intent
	Step   string        `json:"step"`
	Object string        `json:"object"`
	Fate   Fate          `json:"fate"`
	Error  string        `json:"error,omitempty"` // why the API refused it
	First  time.Duration `json:"first"`
	Last   time.Duration `json:"last"`
	Flaps  int           `json:"flaps,omitempty"`
	Legs   Legs          `json:"legs"`
}
