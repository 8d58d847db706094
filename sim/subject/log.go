package subject

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"time"

	"windtunnel.dev/sim/event"
)

// FollowLog reads a controller's log from r until its end and copies each line to keep. For each
// sync that the bundled controller reports, in a JSON record whose msg is "sync", it writes an
// event.Sync. It only copies all other lines: subjects with other logs are measured from outside in
// the same way.
func FollowLog(r io.Reader, keep io.Writer, log *event.Log, name string) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if _, werr := keep.Write(line); werr != nil {
			return werr
		}
		if sync, at, ok := parseSync(line); ok {
			log.Write(event.Event{At: log.At(at), Subject: name, Sync: sync})
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func parseSync(line []byte) (*event.Sync, time.Time, bool) {
	if !bytes.HasPrefix(line, []byte("{")) {
		return nil, time.Time{}, false
	}
	var record struct {
		Time time.Time `json:"time"`
		Msg  string    `json:"msg"`
		event.Sync
	}
	if err := json.Unmarshal(line, &record); err != nil || record.Msg != "sync" {
		return nil, time.Time{}, false
	}
	return &record.Sync, record.Time, true
}
