package probe

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"windtunnel.dev/internal/process"
)

// masterTitle is what nginx's master calls itself, and a worker until it has its
// own title.
const masterTitle = "nginx: master process"

// ErrNoMaster says that no nginx master runs below a process.
var ErrNoMaster = errors.New("no nginx master runs")

// MasterBelow is the nginx master among the processes below one; of two, the one
// that is nearer to it.
func MasterBelow(pid int) (int, error) {
	all := process.Below(pid)
	if i := slices.IndexFunc(all, IsMaster); i >= 0 {
		return all[i], nil
	}
	return 0, fmt.Errorf("below process %d: %w", pid, ErrNoMaster)
}

// IsMaster says whether a process is an nginx master. In the moment of its fork, a
// worker looks like one.
func IsMaster(pid int) bool {
	return strings.HasPrefix(strings.Join(Command(pid), " "), masterTitle)
}

// Command is the command line of a process; nil of one that has ended.
func Command(pid int) []string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
}
