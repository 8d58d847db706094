package cluster

import (
	"context"
	"fmt"
	"time"
)

// Leftover is the set of objects of one run in a cluster. If its Lease has expired, the run was killed.
type Leftover struct {
	Run     string
	Expires time.Time // when the Lease of the run expires
	Remove  func(context.Context) error
}

// FindLeftovers finds the leftovers of all runs in the cluster of a driver.
type FindLeftovers func(context.Context) ([]Leftover, error)

// Report calls tell with a notice about each leftover.
func (find FindLeftovers) Report(ctx context.Context, tell func(string)) error {
	all, err := find(ctx)
	for _, one := range all {
		tell(one.notice())
	}
	return err
}

// RemoveExpired removes the leftovers of runs that were killed. It stops at the first error.
func (find FindLeftovers) RemoveExpired(ctx context.Context) error {
	all, err := find(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if !one.expired() {
			continue
		}
		if err := one.Remove(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l Leftover) expired() bool { return time.Now().After(l.Expires) }

func (l Leftover) notice() string {
	if l.expired() {
		return fmt.Sprintf("removing what run %s left behind", l.Run)
	}
	return fmt.Sprintf("run %s is under way, or was killed a moment ago; a run that begins after %s removes what it left behind", l.Run, l.Expires.UTC().Format(time.TimeOnly+" UTC"))
}
