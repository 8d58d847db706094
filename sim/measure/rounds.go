package measure

import (
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// Round is one measured stretch of a subject's life; times since the start of
// the run. An event belongs to it when Begin <= At <= End.
type Round struct {
	Number   int           `json:"number"`
	Begin    time.Duration `json:"begin"`
	ChurnEnd time.Duration `json:"churnEnd"` // End when the log does not say
	End      time.Duration `json:"end"`
}

// rounds are in order and do not overlap.
type rounds []Round

// roundsOf finds the rounds among events in order. A round that the log leaves
// open ends with the log's last event; where the run was cut, all ends.
func roundsOf(events []event.Event) (rounds, error) {
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

// at is the index of the round in which t lies, -1 if in none. Where one round
// ends in the moment the next begins, that moment is the later round's.
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
