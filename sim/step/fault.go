package step

import (
	"context"
	"errors"
	"fmt"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
)

// strike breaks something, and lets it be healed when its time is over. What breaks
// once more just then is healed before that.
func strike(s scenario.Step, _ setting, next int) ([]Beat, int) {
	return []Beat{{At: s.At, Do: func(ctx context.Context, c *Cluster) error {
		f, ok := fault.Find(s.Fault)
		if !ok {
			return fmt.Errorf("line %d: there is no fault %q", s.Line, s.Fault)
		}
		if c.Victim == nil {
			return fmt.Errorf("fault %s: %w", s.Fault, fault.ErrNotHere)
		}
		if heal := c.struck[s.Fault]; heal != nil {
			heal()
		}
		c.tellFault(event.Fault{Name: s.Fault})
		heal, err := f.Strike(ctx, c.Victim, s.For, func() { c.tellFault(event.Fault{Name: s.Fault, Healed: true}) })
		c.struck[s.Fault] = heal
		if err == nil {
			return nil
		}
		c.tellFault(event.Fault{Name: s.Fault, Failed: true})
		if errors.Is(err, fault.ErrNotHere) {
			return err
		}
		c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Trouble: &event.Trouble{What: "a fault failed", Detail: err.Error()}})
		return nil
	}}}, next
}

func (c *Cluster) tellFault(f event.Fault) {
	c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Fault: &f})
}
