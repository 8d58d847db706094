package step

import (
	"context"
	"errors"
	"fmt"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
)

// strike breaks something, and lets it be healed when its time is over.
func strike(s scenario.Step, _ setting, next int) ([]Beat, int) {
	return []Beat{{At: s.At, Do: func(ctx context.Context, c *Cluster) error {
		f, ok := fault.Find(s.Fault)
		if !ok {
			return fmt.Errorf("line %d: there is no fault %q", s.Line, s.Fault)
		}
		if c.Victim == nil {
			return fmt.Errorf("fault %s: %w", s.Fault, fault.ErrNotHere)
		}
		c.tellFault(s.Fault, false)
		_, err := f.Strike(ctx, c.Victim, s.For, func() { c.tellFault(s.Fault, true) })
		if err != nil && !errors.Is(err, fault.ErrNotHere) {
			c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Trouble: &event.Trouble{What: "a fault failed", Detail: err.Error()}})
			return nil
		}
		return err
	}}}, next
}

func (c *Cluster) tellFault(name string, healed bool) {
	c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Fault: &event.Fault{Name: name, Healed: healed}})
}
