// Package fault is what a scenario can break on purpose around a subject, one
// file a kind of victim. It stands between the timeline's fault steps and what
// is broken: the API server, nginx's processes. Its one rule: a fault does what
// happens in production, and logs when it struck, what it struck, and when it was healed.
package fault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	kubefault "windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/probe"
)

// Fault is one way to break something.
type Fault struct {
	Name string
	Doc  string // a sentence
	// Strikes is the unit in which it counts: requests, workers, files.
	Strikes string
	// Lasts says that it holds for a time, and that the step must say how long;
	// else it happens at once.
	Lasts bool
	// Kills says that the controller may end of it, and is to be started again then.
	Kills bool
	// Root says that only root can make it.
	Root bool

	strike func(Victim, time.Duration) (over, error)
}

// over ends a fault and returns how much it has struck, in the unit Fault.Strikes.
type over func() (struck int)

// done is the over function of a fault that strikes once, at its start.
func done(struck int) over { return func() int { return struck } }

// Victim is a subject as far as it can be broken. A driver that cannot break
// something returns ErrNotHere.
type Victim interface {
	// Inject breaks the subject's API server for its controller, whatever that calls
	// itself; the harness is spared where the fault is one of single requests. Heal
	// returns what it has struck, as kubeapi.Server.Inject says.
	Inject(kubefault.Fault, kubefault.Scope) (heal func() (struck int), err error)
	// Workers are the PIDs of nginx's serving workers.
	Workers() []int
	// Master is the PID of nginx's master process.
	Master() (int, error)
	// Controller is the PID of the controller.
	Controller() int
	// StatusPort is the port on which nginx takes what the controller posts; 0: not known.
	StatusPort() int
	// Late makes pods that start from now on listen so long after they are in their
	// service; 0 ends that. It returns how many were late since the call before.
	Late(by time.Duration) (pods int)
	// Trouble notes something that the reader of the report should know.
	Trouble(what, detail string)
}

// ErrNotHere is the error of a fault that a driver cannot make.
var ErrNotHere = errors.New("this driver cannot do it")

// faults is the table.
var faults = slices.Concat(ofAPI, ofProcesses, ofNetwork, ofPods, ofDisk)

// All are the faults there are.
func All() []Fault { return slices.Clone(faults) }

// Names are the names of all.
func Names() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.Name)
	}
	return names
}

// Find returns the fault of that name.
func Find(name string) (Fault, bool) {
	i := slices.IndexFunc(faults, func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return faults[i], true
}

// Allowed is nil unless only root can make the fault, which we are not: then it is
// ErrNotHere.
func (f Fault) Allowed() error {
	if f.Root && os.Geteuid() != 0 {
		return fmt.Errorf("%w: it needs root", ErrNotHere)
	}
	return nil
}

// Strike breaks the victim. A fault that lasts is healed after that time, when
// ctx is done, or by calling heal; healed is called once, when it is, with how much
// the fault has struck.
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

// There reports whether the victim's controller and nginx are running.
func There(v Victim) bool {
	master, err := v.Master()
	return err == nil && lives(master) && lives(v.Controller())
}

func lives(pid int) bool { return pid > 0 && probe.Exists(pid) }
