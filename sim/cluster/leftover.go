package cluster

import (
	"context"
	"fmt"
	"time"
)

// Leftover is what a run has in a cluster. If its Lease has expired, the run was killed.
type Leftover struct {
	Run     string
	Expires time.Time // when the Lease of the run expires
	Remove  func(context.Context) error
}

// Leftovers is what all earlier runs have in a cluster.
type Leftovers []Leftover

// Report tells a user about the leftovers, one at a time.
func (l Leftovers) Report(tell func(string)) {
	for _, one := range l {
		tell(one.notice())
	}
}

// RemoveExpired removes what runs left behind that were killed. It stops at the first error.
func (l Leftovers) RemoveExpired(ctx context.Context) error {
	for _, one := range l {
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
