package subject

import (
	"bytes"
	"strings"
	"sync"
)

// Tail is a writer that remembers its last line that is not empty.
type Tail struct {
	mu   sync.Mutex
	line []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimRight(p, "\n"), []byte("\n"))
	if last := lines[len(lines)-1]; len(bytes.TrimSpace(last)) > 0 {
		t.line = append(t.line[:0], last...)
	}
	return len(p), nil
}

// Last returns that line.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.line))
}
