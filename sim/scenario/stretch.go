package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// Stretched returns the scenario with its timeline and that of its control scaled to a length, so
// that an hour's scenario can be tried in a minute. The ramps and sines of its traffic are scaled as well,
// so that the rate has the same shape over the timeline. Rates, drains, the lengths of requests and the
// time to converge stay the same.
func (s *Scenario) Stretched(length time.Duration) *Scenario {
	factor := float64(length) / float64(s.Length())
	stretched := *s
	stretched.Timeline = stretch(s.Timeline, factor)
	stretched.Traffic = stretchTraffic(s.Traffic, factor)
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
		step.At, step.For = scaled(step.At, factor), scaled(step.For, factor)
		all = append(all, step)
	}
	return all
}

func stretchTraffic(streams []Traffic, factor float64) []Traffic {
	all := slices.Clone(streams)
	for i, t := range all {
		if t.Ramp != nil {
			ramp := *t.Ramp
			ramp.Over = max(1, scaled(ramp.Over, factor))
			all[i].Ramp = &ramp
		}
		if t.Sine != nil {
			sine := *t.Sine
			sine.Every = max(1, scaled(sine.Every, factor))
			all[i].Sine = &sine
		}
	}
	return all
}

func scaled(d time.Duration, factor float64) time.Duration {
	if product := float64(d) * factor; product < math.MaxInt64 {
		return time.Duration(product)
	}
	return math.MaxInt64
}

// CheckLength returns an error if the scenario does too much, or nothing, because of its length. It
// repeats those checks of a file that depend on the length.
func (s *Scenario) CheckLength() error {
	steps := slices.Clone(s.Timeline)
	if s.Control != nil {
		steps = append(steps, s.Control.Timeline...)
	}
	for _, step := range steps {
		if what, mend := step.amount(); what != "" {
			return fmt.Errorf("it makes the step of line %d %s; %s", step.Line, what, mend)
		}
		if latest := max(step.At, step.For); latest > LongestTime {
			return fmt.Errorf("it stretches a time of the step of line %d to %v; make it %v (31 days) at most", step.Line, latest, LongestTime)
		}
	}
	for _, t := range s.Traffic {
		if what, mend := t.tooMany(s.Length()); what != "" {
			return fmt.Errorf("it makes %s; %s", what, mend)
		}
	}
	return nil
}
