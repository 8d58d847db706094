package quarantine

import "time"

// rejections records how often nginx rejected an object, when it last did, and why.
type rejections struct {
	rejected bool // if false, the object waits for a trial
	reason   string
	told     string // text of the object's last Event
	times    int
	last     time.Time
}

// The pauses before the next trial of an object, each doubled with each rejection. The first pair
// applies if the object, or one that it may conflict with, has changed. The idle pair applies if
// neither has, because nginx also reads files that the controller does not know.
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

// due reports whether a trial can run now.
func (s *rejections) due(now time.Time) bool { return !now.Before(s.when()) }

// when returns the earliest time of the next trial.
func (s *rejections) when() time.Time {
	switch {
	case s.times == 0:
		return time.Time{}
	case s.rejected:
		return s.last.Add(pause(s.times, idleSoonest, idleLatest))
	}
	return s.last.Add(pause(s.times, soonest, latest))
}
