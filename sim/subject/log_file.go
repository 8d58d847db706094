package subject

import (
	"os"
	"path/filepath"
	"time"

	"windtunnel.dev/sim/event"
)

// LogName is the name of the file with a controller's log, in the folder of its subject.
const LogName = "controller.log"

// logPeriod is the resolution with which the event log says when a line was written.
const logPeriod = 100 * time.Millisecond

// LogFile is the file with a controller's log. While it grows, it writes an event.Logged at most every
// logPeriod, so that lines have times even if the controller logs none.
type LogFile struct {
	file   *os.File
	log    *event.Log
	name   string
	size   int64
	marked time.Duration // when the latest mark was written; -1: never
}

// OpenLog opens the log file in a subject's folder, to append to it.
func OpenLog(dir string, log *event.Log, name string) (*LogFile, error) {
	file, err := os.OpenFile(filepath.Join(dir, LogName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &LogFile{file: file, log: log, name: name, size: info.Size(), marked: -1}, nil
}

// Write appends a line.
func (f *LogFile) Write(line []byte) (int, error) {
	if now := f.log.Now(); len(line) > 0 && (f.marked < 0 || now-f.marked >= logPeriod) {
		f.log.Write(event.Event{At: now, Subject: f.name, Logged: &event.Logged{Bytes: f.size}})
		f.marked = now
	}
	n, err := f.file.Write(line)
	f.size += int64(n)
	return n, err
}

// Close closes the file.
func (f *LogFile) Close() error { return f.file.Close() }
