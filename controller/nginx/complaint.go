package nginx

import (
	"regexp"
	"strings"
	"sync"
)

// fatal matches a line in which nginx reports an error. The groups are the level and the message,
// without the time, process and connection.
var fatal = regexp.MustCompile(`(?m)(?:^|\s)(\[(?:emerg|alert|crit|error)\]) (?:\d+#\d+: )?(?:\*\d+ )?(.+)$`)

// complaint returns nginx's error message: the first [emerg] line, because later ones only report
// that nginx gave up, otherwise the last line of a lower level.
func complaint(stderr string) string {
	var message string
	for _, match := range fatal.FindAllStringSubmatch(stderr, -1) {
		message = match[1] + " " + match[2]
		if match[1] == "[emerg]" {
			break
		}
	}
	return strings.TrimSpace(message)
}

// tail is a ring buffer of the last bytes that nginx wrote, for the error of a failed start.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 16 << 10 // bytes

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
