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
// once more just then is healed before that. When it is healed, the log says what
// it has struck.
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
		there := fault.There(c.Victim)
		absent := func() bool { return !there && !fault.There(c.Victim) }
		heal, err := f.Strike(ctx, c.Victim, s.For, func(struck int) {
			c.tellFault(event.Fault{Name: s.Fault, Healed: true, Struck: &event.Struck{Count: struck, Of: f.Strikes}, Absent: struck == 0 && absent()})
		})
		if err == nil {
			c.struck[s.Fault] = heal
			return nil
		}
		c.tellFault(event.Fault{Name: s.Fault, Failed: true, Absent: absent()})
		if errors.Is(err, fault.ErrNotHere) {
			return err
		}
		c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Trouble: &event.Trouble{What: "a fault failed", Detail: err.Error()}})
		return nil
	}}}, next
}

// Heal ends all faults that last still, and returns when the log says so.
func (c *Cluster) Heal() {
	for name, heal := range c.struck {
		heal()
		delete(c.struck, name)
	}
}

func (c *Cluster) tellFault(f event.Fault) {
	c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Fault: &f})
}
