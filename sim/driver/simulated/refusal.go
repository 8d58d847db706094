package simulated

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// refusalPatience is how long a controller that is not healthy yet may continue after
// nginx has refused its configuration: it may find the object at fault and leave it out.
const refusalPatience = 10 * time.Second

// refusal remembers the first line of a controller's log in which nginx refuses a
// configuration, and when it came. It is an io.Writer that takes whole lines.
type refusal struct {
	mu    sync.Mutex
	words string
	at    time.Time
}

// Write never fails.
func (r *refusal) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.words == "" && bytes.Contains(line, []byte("[emerg]")) { // the log level of errors with which nginx cannot run
		r.words, r.at = words(line), time.Now()
	}
	return len(line), nil
}

// words returns the text of a log line; of a record of the bundled controller, its error.
func words(line []byte) string {
	var record struct{ Error string }
	if json.Unmarshal(line, &record) == nil && record.Error != "" {
		return record.Error
	}
	return strings.TrimSpace(string(line))
}

// final returns the error if nginx has refused a configuration and the patience is over.
func (r *refusal) final() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.words == "" || time.Since(r.at) < refusalPatience {
		return nil
	}
	return fmt.Errorf("nginx refuses its configuration: %s", r.words)
}
