package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"syscall"

	"windtunnel.dev/internal/signal"
)

// signalOrder is the body of POST /observe/signal.
type signalOrder struct {
	PID    int            `json:"pid"`    // in the pod
	Signal syscall.Signal `json:"signal"` // its number; 0 sends none
}

// signalled is the response of POST /observe/signal.
type signalled struct {
	Gone bool `json:"gone"` // the process has ended
}

// signals are those that faults need.
var signals = []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCONT}

// signal signals the controller, nginx's master or a worker. Processes that it has stopped continue at
// the end of the observation at the latest.
func (o *observer) signal(_ context.Context, order signalOrder) (signalled, error) {
	if !slices.Contains(signals, order.Signal) {
		return signalled{}, fmt.Errorf("signal %d (%[1]v): no fault sends it", order.Signal)
	}
	s := o.state()
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.stopped[order.PID] || order.PID == s.Controller || order.PID == s.Master || slices.Contains(s.Workers, order.PID)
	if !known && !errors.Is(signal.Send(order.PID, 0), syscall.ESRCH) {
		return signalled{}, fmt.Errorf("process %d is neither the controller nor nginx's", order.PID)
	}
	err := signal.Send(order.PID, order.Signal)
	switch {
	case errors.Is(err, syscall.ESRCH): // also one that has ended since it was seen
		return signalled{Gone: true}, nil
	case err != nil:
		return signalled{}, err
	case order.Signal == syscall.SIGSTOP:
		if o.stopped == nil {
			o.stopped = map[int]bool{}
		}
		o.stopped[order.PID] = true
	case order.Signal == syscall.SIGCONT:
		delete(o.stopped, order.PID)
	}
	return signalled{}, nil
}

// Signal sends a signal to a process of the pod; see fault.Access.
func (o *Observation) Signal(pid int, s syscall.Signal) error {
	var sent signalled
	err := o.peer.call(context.Background(), http.MethodPost, "/observe/signal", signalOrder{PID: pid, Signal: s}, &sent)
	if err == nil && sent.Gone {
		err = syscall.ESRCH
	}
	if err != nil {
		return fmt.Errorf("sending %v to process %d of the pod: %w", s, pid, err)
	}
	return nil
}
