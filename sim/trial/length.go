package trial

import (
	"errors"
	"fmt"
	"time"

	"windtunnel.dev/sim/scenario"
)

// OfLength returns the scenario with its timeline stretched to a length; unchanged for 0. It returns an
// error if the scenario would then do too much, or nothing.
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
	s = s.Stretched(length)
	return s, s.CheckLength()
}
