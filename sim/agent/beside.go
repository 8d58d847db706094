package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/prometheus/procfs"

	"windtunnel.dev/internal/process"
)

// errNoController means that the agent's pod has no other container that runs.
var errNoController = errors.New("no other container of the pod runs, or their processes are not visible (shareProcessNamespace)")

// Beside returns the PID of the program of the pod's other container.
func Beside() (int, error) {
	first, err := firstBeside()
	if err != nil {
		return 0, err
	}
	return process.Program(first)
}

// firstBeside returns the PID of the first process of the pod's other container. In a pod whose containers
// share their processes, the first process of each container has no parent; process 1 is the pod's own.
func firstBeside() (int, error) {
	all, err := procfs.AllProcs()
	if err != nil {
		return 0, err
	}
	for _, one := range all {
		stat, err := one.Stat()
		if err != nil || stat.PPID != 0 || one.PID == 1 || one.PID == os.Getpid() || stat.State == "Z" {
			continue
		}
		return one.PID, nil
	}
	return 0, errNoController
}

// Entry is the first process of the container that an agent observes.
type Entry struct {
	Command []string `json:"command"` // its command line
	// Hidden is why the agent cannot see the open files of the process, in words; "" if it can. Linux hides
	// them from processes with fewer capabilities, and for other reasons (ptrace(2)).
	Hidden string `json:"hidden,omitempty"`
}

// EntryBeside returns the first process of the pod's other container.
func EntryBeside() (Entry, error) {
	pid, err := firstBeside()
	if err != nil {
		return Entry{}, err
	}
	return entryOf(pid)
}

func entryOf(pid int) (Entry, error) {
	one, err := procfs.NewProc(pid)
	if err != nil {
		return Entry{}, err
	}
	var e Entry
	if e.Command, err = one.CmdLine(); err != nil {
		return Entry{}, err
	}
	// The links in /proc/PID/fd need the same permission as this one.
	if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
		if !errors.Is(err, os.ErrPermission) {
			return Entry{}, err
		}
		e.Hidden = err.Error()
		if self, err := procfs.Self(); err == nil && hasMoreCapabilities(one, self) {
			e.Hidden += "; the process has capabilities that the observer lacks"
		}
	}
	return e, nil
}

// hasMoreCapabilities reports whether a process has capabilities that another lacks; false if that is not known.
func hasMoreCapabilities(one, than procfs.Proc) bool {
	has, err := one.NewStatus()
	if err != nil {
		return false
	}
	other, err := than.NewStatus()
	return err == nil && has.CapPrm&^other.CapPrm != 0
}

// Entry asks the agent for the first process of the container that it observes.
func (p *Peer) Entry(ctx context.Context) (e Entry, err error) {
	err = p.call(ctx, http.MethodGet, "/observe/entry", nil, &e)
	return e, err
}
