package quarantine

import "time"

// sentence says how often nginx refused an object, when it did so last, and why.
type sentence struct {
	refused bool // false: it waits for its trial
	reason  string
	told    string // text of the object's last Event
	times   int
	last    time.Time
}

// Pauses before the next trial of an object. The first pair applies when the
// object, or another one that it may conflict with, has changed; the idle pair
// when neither has, because nginx also reads things that are not known here. Both
// pauses double with each refusal.
const (
	soonest, latest         = time.Second, 5 * time.Minute
	idleSoonest, idleLatest = time.Minute, time.Hour
)

func pause(times int, least, most time.Duration) time.Duration {
	if times > 16 {
		return most
	}
	return min(most, least<<max(0, times-1))
}

// due reports whether a trial may run now.
func (s *sentence) due(now time.Time) bool { return !now.Before(s.when()) }

// when is the earliest time for its next trial.
func (s *sentence) when() time.Time {
	switch {
	case s.times == 0:
		return time.Time{}
	case s.refused:
		return s.last.Add(pause(s.times, idleSoonest, idleLatest))
	}
	return s.last.Add(pause(s.times, soonest, latest))
}
