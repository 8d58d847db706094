package scenario

import "time"

// Stretched returns the scenario with its timeline and that of its control scaled to a length, so
// that an hour's scenario can be tried in a minute. Rates and the time to converge stay the same.
func (s *Scenario) Stretched(length time.Duration) *Scenario {
	factor := float64(length) / float64(s.Length())
	stretched := *s
	stretched.Timeline = stretch(s.Timeline, factor)
	if s.Control != nil {
		control := *s.Control
		control.Timeline = stretch(control.Timeline, factor)
		stretched.Control = &control
	}
	return &stretched
}

func stretch(steps []Step, factor float64) []Step {
	var all []Step
	for _, step := range steps {
		step.At = time.Duration(float64(step.At) * factor)
		step.For = time.Duration(float64(step.For) * factor)
		all = append(all, step)
	}
	return all
}
