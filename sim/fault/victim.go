package fault

import (
	"errors"
	"syscall"
	"time"

	kubefault "windtunnel.dev/sim/kubeapi/fault"
)

// Victim is a subject as faults see it.
type Victim interface {
	Access
	Pods
	// Workers returns the PIDs of nginx's serving workers.
	Workers() []int
	// Trouble logs something that the reader of the report should know.
	Trouble(what, detail string)
}

// Access is what faults can break where a subject runs; drivers implement it. A new capability is a
// method here and in Unable, and in each driver that has it.
type Access interface {
	// Inject breaks the subject's API server for the subject, whatever its user agent. A fault of
	// single requests does not affect the harness. Heal returns how much the fault struck, as
	// described at kubeapi.Server.Inject. The error is ErrNotHere if the driver cannot do it.
	Inject(kubefault.Fault, kubefault.Scope) (heal func() (struck int), err error)
	// Master returns the PID of nginx's master process.
	Master() (int, error)
	// Controller returns the PID of the controller.
	Controller() int
	// Signal sends a signal to a process whose PID the victim has returned; 0 checks whether it exists.
	// The error is ESRCH if it does not, and ErrNotHere if the driver cannot send signals.
	Signal(pid int, s syscall.Signal) error
	// StatusPort returns the port of nginx's internal server, to which the controller POSTs, in
	// nginx's network; 0: it is not known.
	StatusPort() int
}

// Pods is the part of a subject's simulated pods that faults can break.
type Pods interface {
	// DelayReadiness makes pods that start from now on listen only after a delay, which begins when
	// they are in their service; 0 ends that. It returns how many pods were delayed since the last
	// call.
	DelayReadiness(by time.Duration) (pods int)
}

// Unable is a Victim that has nothing to break. Drivers and tests embed it and implement what they
// have.
type Unable struct{}

var _ Victim = Unable{}

// Inject returns ErrNotHere.
func (Unable) Inject(kubefault.Fault, kubefault.Scope) (heal func() (struck int), err error) {
	return nil, ErrNotHere
}

// Master returns an error.
func (Unable) Master() (int, error) { return 0, errors.New("there is no nginx") }

// Controller returns 0.
func (Unable) Controller() int { return 0 }

// Signal returns ErrNotHere.
func (Unable) Signal(int, syscall.Signal) error { return ErrNotHere }

// StatusPort returns 0.
func (Unable) StatusPort() int { return 0 }

// DelayReadiness returns 0.
func (Unable) DelayReadiness(time.Duration) (pods int) { return 0 }

// Workers returns none.
func (Unable) Workers() []int { return nil }

// Trouble does nothing.
func (Unable) Trouble(string, string) {}

// Running reports whether the victim's controller and nginx are running.
func Running(v Victim) bool {
	master, err := v.Master()
	return err == nil && isAlive(v, master) && isAlive(v, v.Controller())
}

func isAlive(v Victim, pid int) bool {
	if pid <= 0 {
		return false
	}
	err := v.Signal(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
