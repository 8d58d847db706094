package apply

import "time"

// Report describes what Do did. The sync record in the controller's log contains its Phases and
// Posts as JSON.
type Report struct {
	Started  bool // nginx was started for the first time
	Reloaded bool // nginx was reloaded, and its new workers serve
	Phases   Phases
	Posts    []Post
}

// Phases are the durations of the parts of a reload or start; 0 for a part that was not reached. In
// JSON they are in nanoseconds.
type Phases struct {
	Render      time.Duration `json:"render"`      // filled in by the caller of Do
	Test        time.Duration `json:"test"`        // writing the candidate files, and nginx -t
	Signal      time.Duration `json:"signal"`      // nginx -s reload, or the start
	FirstWorker time.Duration `json:"firstWorker"` // from the signal to the first new worker
}

// Post is one POST that nginx accepted.
type Post struct {
	Path  string        `json:"path"`
	Bytes int           `json:"bytes"`
	Took  time.Duration `json:"took"` // ns, including failed attempts and pauses
}
