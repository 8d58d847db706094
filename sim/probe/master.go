package probe

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"windtunnel.dev/internal/process"
)

// masterTitle is the title of nginx's master process, and of a worker until it has set its own.
const masterTitle = "nginx: master process"

// ErrNoMaster means that no nginx master runs among the descendants of a process.
var ErrNoMaster = errors.New("no nginx master runs")

// MasterBelow returns the PID of the nginx master among the descendants of a process. If there are
// two, it returns the nearer one.
func MasterBelow(pid int) (int, error) {
	all := process.Below(pid)
	if i := slices.IndexFunc(all, IsMaster); i >= 0 {
		return all[i], nil
	}
	return 0, fmt.Errorf("below process %d: %w", pid, ErrNoMaster)
}

// IsMaster reports whether a process is an nginx master. A worker looks like one just after its
// fork.
func IsMaster(pid int) bool {
	return strings.HasPrefix(strings.Join(Command(pid), " "), masterTitle)
}

// Command returns the command line of a process, nil if it has ended.
func Command(pid int) []string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
}
