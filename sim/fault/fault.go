// Package fault breaks things around a subject on purpose. It stands between the timeline's fault
// steps and what they break, such as the API server or nginx's processes. Its one rule: a fault
// does what happens in production, and the log records when it struck, how much it struck, and when
// it was healed.
package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Fault is one way to break something.
type Fault struct {
	Name string
	Doc  string // a sentence
	// Strikes is the unit in which the fault counts what it strikes: requests, workers, files.
	Strikes string
	// Lasts means that the fault holds for a time, which the step must set; otherwise it happens
	// once.
	Lasts bool
	// Kills means that the fault may end the controller, which must then be started again.
	Kills bool
	// Root means that only root can make it.
	Root bool
	// Needs is what a driver must be able to break for the fault; empty: nothing special.
	Needs Need

	strike func(Victim, time.Duration) (endFunc, error)
}

// Need is something to break that not every driver, or not every subject, has.
type Need string

const (
	// APIServer is needed by faults of the subject's API server.
	APIServer Need = "the API server"
	// Configuration is needed by faults of nginx's configuration and of its updates.
	Configuration Need = "an nginx with a configuration file"
	// Respawn is needed by faults after which nginx's master starts new workers.
	Respawn Need = "a master that replaces its workers"
)

// endFunc ends a fault and returns how much it struck, in the unit Fault.Strikes.
type endFunc func() (struck int)

// alreadyOver returns the end function of a fault that strikes once, at its start.
func alreadyOver(struck int) endFunc { return func() int { return struck } }

// ErrNotHere is the error of a fault that a driver cannot make.
var ErrNotHere = errors.New("this driver cannot do it")

// faults is the table.
var faults = slices.Concat(ofAPI, ofProcesses, ofNetwork, ofPods, ofDisk)

// All returns all faults.
func All() []Fault { return slices.Clone(faults) }

// Find returns the fault of that name.
func Find(name string) (Fault, bool) {
	i := slices.IndexFunc(faults, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return faults[i], true
}

// Allowed returns ErrNotHere if only root can make the fault, and this process is not root's.
func (f Fault) Allowed() error {
	if f.Root && os.Geteuid() != 0 {
		return fmt.Errorf("%w: it needs root", ErrNotHere)
	}
	return nil
}

// Strike breaks the victim. A fault that lasts is healed after that time, when ctx is done, or
// when heal is called. Strike calls healed once, when the fault is over, with how much it struck.
func (f Fault) Strike(ctx context.Context, v Victim, lasts time.Duration, healed func(struck int)) (heal func(), err error) {
	if err := f.Allowed(); err != nil {
		return nil, fmt.Errorf("fault %s: %w", f.Name, err)
	}
	end, err := f.strike(v, lasts)
	if err != nil {
		return nil, fmt.Errorf("fault %s: %w", f.Name, err)
	}
	if !f.Lasts {
		healed(end())
		return func() {}, nil
	}
	struck, stop := context.WithTimeout(ctx, lasts)
	finished := make(chan struct{})
	context.AfterFunc(struck, func() {
		defer close(finished)
		healed(end())
		stop()
	})
	return func() { stop(); <-finished }, nil
}
