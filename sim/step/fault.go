package step

import (
	"context"
	"errors"
	"fmt"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
)

// faultTasks returns a task that starts a fault, which heals when its time is over. If the same
// fault is still active, the task heals it first. The event of the healing says what the fault
// struck.
func faultTasks(s scenario.Step, _ setting, next int) ([]Task, int) {
	return []Task{{At: s.At, Do: func(ctx context.Context, c *Cluster) error {
		f, ok := fault.Find(s.Fault)
		if !ok {
			return fmt.Errorf("line %d: unknown fault %q", s.Line, s.Fault)
		}
		if c.Victim == nil {
			return fmt.Errorf("fault %s: %w", s.Fault, fault.ErrNotHere)
		}
		if heal := c.active[s.Fault]; heal != nil {
			heal()
		}
		c.logFault(event.Fault{Name: s.Fault})
		present := fault.Running(c.Victim)
		absent := func() bool { return !present && !fault.Running(c.Victim) }
		heal, err := f.Strike(ctx, c.Victim, s.For, func(struck int) {
			c.logFault(event.Fault{Name: s.Fault, Healed: true, Struck: &event.Struck{Count: struck, Of: f.Strikes}, Absent: struck == 0 && absent()})
		})
		if err == nil {
			c.active[s.Fault] = heal
			return nil
		}
		c.logFault(event.Fault{Name: s.Fault, Failed: true, Absent: absent()})
		if errors.Is(err, fault.ErrNotHere) {
			return err
		}
		c.log.Trouble(c.subject, "a fault failed", err.Error())
		return nil
	}}}, next
}

// Heal ends all active faults. It returns when their healing is in the log.
func (c *Cluster) Heal() {
	for name, heal := range c.active {
		heal()
		delete(c.active, name)
	}
}

func (c *Cluster) logFault(f event.Fault) {
	c.log.Write(event.Event{At: c.log.Now(), Subject: c.subject, Fault: &f})
}
