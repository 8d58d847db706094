package driver

import (
	"fmt"

	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
)

// Limited is a driver that cannot run every scenario.
type Limited interface {
	// Lacks says why it cannot make a fault; empty: it can.
	Lacks(fault string) string
}

// Fits is nil where a driver can run a scenario. Else the error is
// fault.ErrNotHere and says what it cannot do, and why.
func Fits(d Driver, s *scenario.Scenario) error {
	limited, ok := d.(Limited)
	if !ok {
		return nil
	}
	for _, step := range s.Timeline {
		if step.Fault == "" {
			continue
		}
		if why := limited.Lacks(step.Fault); why != "" {
			return fmt.Errorf("%s:%d: fault %s, driver %s: %w: %s", s.File, step.Line, step.Fault, d.Name(), fault.ErrNotHere, why)
		}
	}
	return nil
}
