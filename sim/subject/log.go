package subject

import (
	"bufio"
	"errors"
	"io"
	"time"

	"windtunnel.dev/sim/event"
)

// ReadSync returns the sync that a line of a controller's log reports, nil if there is none. at is
// when it ended; the zero time means that the line does not say.
type ReadSync func(line []byte) (sync *event.Sync, at time.Time)

// FollowLog reads a controller's log from r until its end and copies each line to keep. It writes an
// event.Sync for each line that reports a sync, and only copies all other lines: subjects whose logs
// report no syncs are measured from outside in the same way.
//
// If keep fails, as on a full disk, FollowLog reports that in the event log and reads on, because a
// controller blocks if nobody reads its log. It returns the first such error at the end.
func FollowLog(r io.Reader, keep io.Writer, log *event.Log, name string, read ReadSync) error {
	lines := bufio.NewReader(r)
	var lost error
	for {
		line, err := lines.ReadBytes('\n')
		if _, werr := keep.Write(line); werr != nil && lost == nil {
			lost = werr
			log.Trouble(name, "the controller's log is incomplete", werr.Error())
		}
		if sync, at := read(line); sync != nil {
			when := log.Now()
			if !at.IsZero() {
				when = log.At(at)
			}
			log.Write(event.Event{At: when, Subject: name, Sync: sync})
		}
		if err == io.EOF {
			return lost
		}
		if err != nil {
			return errors.Join(lost, err)
		}
	}
}
