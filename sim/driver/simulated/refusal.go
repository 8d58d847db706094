package simulated

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// refusalPatience is how long a controller that is not healthy yet may go on after
// nginx refused its configuration: it may find out which object it is, and do without.
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
	if r.words == "" && bytes.Contains(line, []byte("[emerg]")) { // nginx's word for what it cannot run with
		r.words, r.at = words(line), time.Now()
	}
	return len(line), nil
}

// words are what a line says: of a record of the bundled controller, its error.
func words(line []byte) string {
	var record struct{ Error string }
	if json.Unmarshal(line, &record) == nil && record.Error != "" {
		return record.Error
	}
	return strings.TrimSpace(string(line))
}

// final is the error of a refusal that nothing came after.
func (r *refusal) final() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.words == "" || time.Since(r.at) < refusalPatience {
		return nil
	}
	return fmt.Errorf("nginx refuses its configuration: %s", r.words)
}
