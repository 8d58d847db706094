package web

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/subject"
)

// The limits of the part of a log that is read and shown.
const (
	mostBytes  = 64 << 10 // read at once; older bytes are skipped
	mostLines  = 300      // kept
	longestRow = 1000     // bytes of a line
)

// logFile is the end of a controller's log. It is read only while somebody watches.
type logFile struct {
	path string

	mu    sync.Mutex
	read  int64 // bytes so far
	rest  []byte
	lines []string // the latest
	total int      // lines so far
}

func newLogFile(dir, name string) *logFile {
	return &logFile{path: filepath.Join(dir, name, subject.LogName)}
}

// since returns the kept lines after the first n of the log, and the number of lines so far.
func (l *logFile) since(n int) (lines []string, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
	return append([]string{}, l.lines[max(0, len(l.lines)-(l.total-n)):]...), l.total
}

// follow reads the new part of the file. It ignores a file that cannot be read.
func (l *logFile) follow() {
	file, err := os.Open(l.path)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return
	}
	if info.Size()-l.read > mostBytes {
		l.add("[…]")
		l.read, l.rest = info.Size()-mostBytes, nil
	}
	more := make([]byte, max(0, info.Size()-l.read))
	n, err := file.ReadAt(more, l.read)
	if err != nil && !errors.Is(err, io.EOF) {
		return
	}
	l.read += int64(n)
	l.rest = append(l.rest, more[:n]...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return
		}
		l.add(string(line))
		l.rest = rest
	}
}

func (l *logFile) add(line string) {
	l.lines = append(l.lines, report.PlainLine(report.Shortened(line, longestRow)))
	l.lines = l.lines[max(0, len(l.lines)-mostLines):]
	l.total++
}
