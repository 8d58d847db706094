package nginx

import (
	"regexp"
	"strings"
	"sync"
)

// fatal is a line by which nginx says why it gives up, after the time, and
// without the process and connection numbers.
var fatal = regexp.MustCompile(`(?m)(?:^|\s)(\[(?:emerg|alert|crit|error)\]) (?:\d+#\d+: )?(?:\*\d+ )?(.+)$`)

// complaint returns what nginx said went wrong: its first [emerg] line, as later
// ones only say that it gave up, or else its last line of a lesser level.
func complaint(stderr string) string {
	var said string
	for _, match := range fatal.FindAllStringSubmatch(stderr, -1) {
		said = match[1] + " " + match[2]
		if match[1] == "[emerg]" {
			break
		}
	}
	return strings.TrimSpace(said)
}

// tail keeps the last bytes written to it, for the error of a start that failed.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 16 << 10

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
