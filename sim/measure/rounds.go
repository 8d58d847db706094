package measure

import (
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// Round is a measured period of a subject's life. Times are since the start of the run. An event
// belongs to the round if Begin <= At <= End.
type Round struct {
	Number   int           `json:"number"`
	Begin    time.Duration `json:"begin"`
	ChurnEnd time.Duration `json:"churnEnd"` // End if the log does not report it
	End      time.Duration `json:"end"`
}

// rounds are in order and do not overlap.
type rounds []Round

// roundsOf finds the rounds among sorted events. A round without an end in the log ends with the
// log's last event. If the run was interrupted, the open round ends there, and later events are
// ignored.
func roundsOf(events []*event.Event) (rounds, error) {
	var all rounds
	open := false
	for _, e := range events {
		if e.Phase == nil {
			continue
		}
		switch e.Phase.Name {
		case event.RoundBegin:
			if open {
				return nil, fmt.Errorf("round %d begins at %v inside another", e.Phase.Round, e.At)
			}
			all, open = append(all, Round{Number: e.Phase.Round, Begin: e.At}), true
		case event.ChurnEnd:
			if open {
				all[len(all)-1].ChurnEnd = e.At
			}
		case event.RoundEnd:
			if !open {
				return nil, fmt.Errorf("round %d ends at %v and never began", e.Phase.Round, e.At)
			}
			all[len(all)-1].end(e.At)
			open = false
		case event.Cut:
			if open {
				all[len(all)-1].end(e.At)
			}
			return all, nil
		}
	}
	if open {
		all[len(all)-1].end(events[len(events)-1].At)
	}
	return all, nil
}

func (r *Round) end(at time.Duration) {
	r.End = at
	if r.ChurnEnd == 0 {
		r.ChurnEnd = at
	}
}

// at returns the index of the round that contains t, or -1 if there is none. If a round ends at the
// time when the next one begins, that time belongs to the later round.
func (rs rounds) at(t time.Duration) int {
	next, _ := slices.BinarySearchFunc(rs, t, func(r Round, t time.Duration) int {
		if r.Begin <= t {
			return -1
		}
		return 1
	})
	if next > 0 && t <= rs[next-1].End {
		return next - 1
	}
	return -1
}

func (rs rounds) total() time.Duration {
	var sum time.Duration
	for _, r := range rs {
		sum += r.End - r.Begin
	}
	return sum
}
