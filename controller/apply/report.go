package apply

import "time"

// Report is what Do has done. Its JSON form is that of the sync record in the
// controller's log.
type Report struct {
	Started  bool // nginx, for the first time
	Reloaded bool // nginx, and its new workers serve
	Phases   Phases
	Posts    []Post
}

// Phases are the parts of a change that takes a reload or the start, each 0 when
// it was not come to. In JSON they are nanoseconds.
type Phases struct {
	Render      time.Duration `json:"render"`      // for the caller to fill in
	Test        time.Duration `json:"test"`        // writing it aside, and nginx -t
	Signal      time.Duration `json:"signal"`      // nginx -s reload, or the start
	FirstWorker time.Duration `json:"firstWorker"` // from the signal to the first new worker
}

// Post is one POST that nginx took.
type Post struct {
	Path  string        `json:"path"`
	Bytes int           `json:"bytes"`
	Took  time.Duration `json:"took"` // ns, failed attempts and pauses included
}
