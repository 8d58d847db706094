package probe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"windtunnel.dev/internal/process"
	"windtunnel.dev/sim/adapter"
)

// ErrNoMaster means that no master of workers runs among the descendants of a process.
var ErrNoMaster = errors.New("the process that runs the workers does not exist")

// MasterOf returns the PID of the master of the workers: the controller or one of its descendants. If
// there are two, it returns the nearer one.
func MasterOf(controller int, p adapter.Processes) (int, error) {
	if p.Master.IsZero() {
		if !Exists(controller) {
			return 0, fmt.Errorf("process %d: %w", controller, ErrNoMaster)
		}
		return controller, nil
	}
	for _, pid := range append([]int{controller}, process.Below(controller)...) {
		if IsMaster(pid, p) {
			return pid, nil
		}
		if executes(pid) { // it may be the master, and those below it its workers, which may look like one
			break
		}
	}
	return 0, fmt.Errorf("at and below process %d: %w", controller, ErrNoMaster)
}

// Finder finds the master of one controller again and again. It searches only if the last known master
// has ended, because a search lists all threads. The zero value is ready to use.
type Finder struct{ last atomic.Int64 }

// Master returns the PID of the master; see MasterOf.
func (f *Finder) Master(controller func() (int, error), p adapter.Processes) (int, error) {
	if pid := int(f.last.Load()); pid != 0 && IsMaster(pid, p) {
		return pid, nil
	}
	top, err := controller()
	if err != nil {
		return 0, err
	}
	pid, err := MasterOf(top, p)
	f.last.Store(int64(pid))
	return pid, err
}

// executes reports whether a process runs but has no command line, as while it executes a program.
func executes(pid int) bool {
	if title(pid) != "" {
		return false
	}
	stat, err := procStat(pid)
	return err == nil && stat.State != "Z" && stat.State != "X"
}

// IsMaster reports whether a process looks like a master. A worker looks like one just after its
// fork.
func IsMaster(pid int, p adapter.Processes) bool {
	line := title(pid)
	return line != "" && p.Master.Match(line)
}

// WithArguments returns the process whose command line ends with these arguments. An init process or a
// script passes its own arguments on, so several processes may match: it is the lowest one below top; top
// if there is none.
func WithArguments(top int, arguments []string) int {
	if len(arguments) == 0 {
		return top
	}
	for _, child := range process.Children(top) {
		line := Command(child)
		if len(line) > len(arguments) && slices.Equal(line[len(line)-len(arguments):], arguments) {
			return WithArguments(child, arguments)
		}
	}
	return top
}

// PastInit returns the process that an init process (tini, dumb-init) runs. The command line of an init
// process ends with that of the process that it starts. From top, PastInit follows such processes down to
// the last one.
func PastInit(top int) int {
	line := Command(top)
	for _, child := range process.Children(top) {
		below := Command(child)
		if len(below) > 0 && len(line) > len(below) && slices.Equal(line[len(line)-len(below):], below) {
			return PastInit(child)
		}
	}
	return top
}

// Command returns the command line of a process, nil if it has ended.
func Command(pid int) []string {
	line, err := readProc(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
}
