package simulated

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// refusalPatience is how long a controller that is not healthy yet may continue after nginx has
// rejected its configuration. In that time it may find the invalid object and leave it out.
const refusalPatience = 10 * time.Second

// refusal is an io.Writer for the lines of a controller's log. It remembers the first line in which
// nginx rejects a configuration, and when it came. Each call of Write must have a whole line.
type refusal struct {
	mu   sync.Mutex
	text string
	at   time.Time
}

// fatal are the parts of log lines that say that nginx cannot run: the level of such errors, and an error
// of the Lua code that runs when nginx starts, whose level is lower.
var fatal = [][]byte{[]byte("[emerg]"), []byte("[error] init_by_lua")}

// Write never fails.
func (r *refusal) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasSuffix(r.text, ":") { // the cause follows, such as the place of a syntax error in Lua code
		r.text += " " + strings.TrimSpace(string(line))
	}
	if r.text == "" && slices.ContainsFunc(fatal, func(part []byte) bool { return bytes.Contains(line, part) }) {
		r.text, r.at = textOf(line), time.Now()
	}
	return len(line), nil
}

// textOf returns the text of a log line. For a record of the bundled controller, that is its error.
func textOf(line []byte) string {
	var record struct{ Error string }
	if json.Unmarshal(line, &record) == nil && record.Error != "" {
		return record.Error
	}
	return strings.TrimSpace(string(line))
}

// final returns an error if nginx has rejected a configuration and the patience is over.
func (r *refusal) final() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.text == "" || time.Since(r.at) < refusalPatience {
		return nil
	}
	return fmt.Errorf("nginx rejects its configuration: %s", r.text)
}
