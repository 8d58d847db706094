package subject

import (
	"bufio"
	"io"
	"time"

	"windtunnel.dev/sim/event"
)

// ReadSync returns the sync that a line of a controller's log tells of, nil if there is none. at is
// when it ended; the zero time means that the line does not say it.
type ReadSync func(line []byte) (sync *event.Sync, at time.Time)

// FollowLog reads a controller's log from r until its end and copies each line to keep. It writes an
// event.Sync for each line that tells of one. It only copies all other lines: subjects whose logs tell
// nothing are measured from outside in the same way.
func FollowLog(r io.Reader, keep io.Writer, log *event.Log, name string, read ReadSync) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if _, werr := keep.Write(line); werr != nil {
			return werr
		}
		if sync, at := read(line); sync != nil {
			when := log.Now()
			if !at.IsZero() {
				when = log.At(at)
			}
			log.Write(event.Event{At: when, Subject: name, Sync: sync})
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
