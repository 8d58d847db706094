package simulated

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// refusalPatience is how long a controller that is not healthy yet may continue after nginx has
// rejected its configuration, or a worker could not start. In that time it may find the invalid object
// and leave it out.
const refusalPatience = 10 * time.Second

// refusal is an io.Writer for the lines of a controller's log. It remembers the first line in which
// nginx rejects a configuration or a worker cannot start, and when it came. Each call of Write must have
// a whole line.
type refusal struct {
	mu   sync.Mutex
	what string // that happened; "" if nothing has
	text string
	at   time.Time
}

// fatal are the parts of log lines that say that nginx cannot run: the level of such errors, and an error
// of the Lua code that runs when nginx starts, whose level is lower.
var fatal = [][]byte{[]byte("[emerg]"), []byte("[error] init_by_lua")}

// fatalForWorkers matches the lines of nginx's error log that say that the Lua code of a worker failed
// before the worker could serve. nginx continues with such workers.
var fatalForWorkers = regexp.MustCompile(`\[error\] .*: init_worker_by_lua\w* error: .*`)

// Write never fails.
func (r *refusal) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case strings.HasSuffix(r.text, ":"): // the cause follows, such as the place of a syntax error in Lua code
		r.text += " " + strings.TrimSpace(string(line))
	case r.text != "":
	case slices.ContainsFunc(fatal, func(part []byte) bool { return bytes.Contains(line, part) }):
		r.what, r.text, r.at = "nginx rejects its configuration", textOf(line), time.Now()
	case fatalForWorkers.Match(line):
		r.what, r.text, r.at = "the workers of nginx do not start", textOf(line), time.Now()
	}
	return len(line), nil
}

// read looks for such a line in nginx's error log, which not all controllers print.
func (r *refusal) read(log []byte) {
	r.mu.Lock()
	known := r.text != ""
	r.mu.Unlock()
	found := fatalForWorkers.FindIndex(log)
	if known || found == nil {
		return
	}
	lines := bytes.SplitAfterN(log[found[0]:], []byte("\n"), 3)
	for _, line := range lines[:min(2, len(lines))] { // the second may be the cause
		_, _ = r.Write(line)
	}
}

// textOf returns the text of a log line. For a record of the bundled controller, that is its error.
func textOf(line []byte) string {
	var record struct{ Error string }
	if json.Unmarshal(line, &record) == nil && record.Error != "" {
		return record.Error
	}
	return strings.TrimSpace(string(line))
}

// final returns an error if nginx has rejected a configuration, or a worker could not start, and the
// patience is over.
func (r *refusal) final() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.text == "" || time.Since(r.at) < refusalPatience {
		return nil
	}
	return fmt.Errorf("%s: %s", r.what, r.text)
}
