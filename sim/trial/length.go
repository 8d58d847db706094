package trial

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/scenario"
)

// OfLength returns the scenario with its timeline stretched to a length; unchanged for 0. It returns an
// error if the scenario would then do too much, or nothing, or replays changes that have times of their
// own: they would be cut off, or end early, while all else is stretched.
func OfLength(s *scenario.Scenario, length time.Duration) (*scenario.Scenario, error) {
	switch {
	case length == 0:
		return s, nil
	case length < 0:
		return nil, errors.New("want more than 0")
	case length > scenario.LongestTime:
		return nil, fmt.Errorf("want %v (31 days) at most", scenario.LongestTime)
	case s.Length() == 0:
		return nil, fmt.Errorf("the timeline of %s has no length to stretch", s.Name)
	}
	if i := slices.IndexFunc(s.Timeline, func(one scenario.Step) bool { return one.Churn == scenario.Recorded }); i >= 0 {
		return nil, fmt.Errorf("%s replays a recording (line %d), whose changes keep their times; to replay only its beginning, shorten for: there", s.Name, s.Timeline[i].Line)
	}
	s = s.Stretched(length)
	return s, s.CheckLength()
}
