package adapter

import (
	"bytes"
	"encoding/json"
	"time"

	"windtunnel.dev/sim/event"
)

// The values of Line.Tells.
const (
	TellsSync   = "sync"
	TellsReload = "reload"
)

// Line recognises lines of a controller's log that report a sync.
type Line struct {
	// A regular expression over the line. The optional groups took (a duration such as 20ms or 0.02s), why and error give details.
	Match Pattern `yaml:"match,omitempty"`
	// Instead of match: the value of msg in JSON records that have the fields of a sync in the event log (docs/result.md), and its time.
	Record string `yaml:"record,omitempty"`
	// What it reports: sync (the controller has brought its configuration up to date) or reload (the same, by a reload).
	Tells string `yaml:"tells,omitempty" jsonschema:"default=sync,enum=sync,enum=reload"`
}

// Read returns the sync that a line of the log reports, or nil if it reports none. at is when the
// sync ended; it is zero if the line does not say.
func (s *Setup) Read(line []byte) (sync *event.Sync, at time.Time) {
	for _, rule := range s.Log {
		if sync, at = rule.read(line); sync != nil {
			return sync, at
		}
	}
	return nil, time.Time{}
}

func (l Line) read(line []byte) (*event.Sync, time.Time) {
	if l.Record != "" {
		return l.readRecord(line)
	}
	line = bytes.TrimRight(line, "\r\n")
	groups := l.Match.expression.FindSubmatch(line)
	if groups == nil {
		return nil, time.Time{}
	}
	sync := &event.Sync{Partial: true, Reload: l.Tells == TellsReload}
	for i, name := range l.Match.expression.SubexpNames() {
		switch text := string(groups[i]); name {
		case "took":
			sync.Took, _ = time.ParseDuration(text) // 0 means that it is not known
		case "why":
			if text != "" {
				sync.Why = []string{text}
			}
		case "error":
			sync.Error = text
		}
	}
	return sync, time.Time{}
}

func (l Line) readRecord(line []byte) (*event.Sync, time.Time) {
	if !bytes.HasPrefix(line, []byte("{")) {
		return nil, time.Time{}
	}
	var record struct {
		Time time.Time `json:"time"`
		Msg  string    `json:"msg"`
		event.Sync
	}
	if err := json.Unmarshal(line, &record); err != nil || record.Msg != l.Record {
		return nil, time.Time{}
	}
	return &record.Sync, record.Time
}
