package measure

import "time"

// Series is what the plots of a report need, subjects in the order of Result.
type Series struct {
	Subjects []Timeline `json:"subjects"`
}

// Timeline is one subject's run over time. All times are since the start of
// the run.
type Timeline struct {
	Name    string        `json:"name"`
	Rounds  []Round       `json:"rounds"`
	Width   time.Duration `json:"width"` // of a bin
	Bins    []Bin         `json:"bins"`  // the rounds' bins in order, empty ones too; none outside of rounds
	Reloads []Reload      `json:"reloads"`
	Changes []Served      `json:"changes"` // in the order of intent
	Faults  []Broken      `json:"faults,omitempty"`
	// Proportional says that the bins' layers are of PSS, which adds up. They are
	// of RSS, in which shared pages count for each process, where PSS was never sampled.
	Proportional bool   `json:"proportional"`
	Heat         []Heat `json:"heat,omitempty"` // of each lane
}

// Bin is what happened from At for the width of a bin, or until the round's end.
type Bin struct {
	At          time.Duration  `json:"at"`
	Requests    int            `json:"requests"`           // meant to be sent in it
	Failures    map[string]int `json:"failures,omitempty"` // of those, by cause
	P50         time.Duration  `json:"p50"`                // latency from the intended send time of those that were answered and were not meant to last
	P99         time.Duration  `json:"p99"`
	Max         time.Duration  `json:"max"`
	Changes     int            `json:"changes"`
	Generations int            `json:"generations"`   // most alive at once
	RSS         int64          `json:"rss,omitempty"` // bytes, the most sampled; 0: no sample
	// Layers are the memory of each generation alive, in bytes: the newest first,
	// and in the last of six all that are older; none before the first sample.
	Layers []int64 `json:"layers,omitempty"`
}

// Heat is how the latencies of a lane's answered requests spread over time, of a
// lane whose requests last by intent how long they took.
type Heat struct {
	Lane    string        `json:"lane"`
	Width   time.Duration `json:"width"`   // of a column
	Columns []Column      `json:"columns"` // those with an answered request, in order
}

// Column counts the requests meant to be sent from At for a column's width, or
// until the round's end, by their latency. Row n holds those from
// 10^(n/HeatRows) µs up to, and without, 10^((n+1)/HeatRows) µs; row 0 also what
// was faster.
type Column struct {
	At   time.Duration `json:"at"`
	Rows map[int]int   `json:"rows"`
}

// Reload is a new generation of workers, when it was first seen.
type Reload struct {
	At         time.Duration `json:"at"`
	Generation int           `json:"generation"`
}

// Broken is a time in which something was broken on purpose.
type Broken struct {
	Name   string        `json:"name"`
	From   time.Duration `json:"from"`
	Until  time.Duration `json:"until"` // the end of its round, if it was not healed by then
	healed bool
}

// Fate is what became of a change.
type Fate string

// The fates of a change.
const (
	Failed      Fate = "failed"      // the API refused it
	Converged   Fate = "converged"   // every worker serves it
	Superseded  Fate = "superseded"  // a later change undid it before that
	Unconverged Fate = "unconverged" // its round ended before that
	Unwatched   Fate = "unwatched"   // it moves no pod: there is nothing to look for
)

// Served is one change and when it was served. First and Last count from
// intent; they are -1 where no worker, or not every worker, came to serve it.
type Served struct {
	ID     int           `json:"id"`
	At     time.Duration `json:"at"` // of intent
	Step   string        `json:"step"`
	Object string        `json:"object"`
	Fate   Fate          `json:"fate"`
	Error  string        `json:"error,omitempty"` // why the API refused it
	First  time.Duration `json:"first"`
	Last   time.Duration `json:"last"`
	Flaps  int           `json:"flaps,omitempty"`
	Legs   Legs          `json:"legs"`
}
