package kindcluster

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"

	"windtunnel.dev/internal/process"
)

// Processes returns the PIDs, on this machine, of a container's processes. It finds them by the
// name of their control group.
func Processes(id string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(id)) { // an error means that it has ended
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // only PIDs begin with a digit in /proc
		pids = append(pids, pid)
	}
	return pids
}

// ErrNoProcess means that the main process of a container has not started yet, or has ended.
var ErrNoProcess = errors.New("the container has no process yet")

// Main returns the PID of the main process of a container: its first process or, if that is only an
// init process, the one that it started.
func Main(id string) (int, error) {
	program, err := process.Program(first(Processes(id)))
	if err != nil {
		return 0, ErrNoProcess
	}
	return program, nil
}

// first returns the first process of a container; 0 if all have ended. Its parent is outside the
// container, like those of processes that were executed in it later.
func first(pids []int) int {
	oldest, began := 0, uint64(0)
	for _, pid := range pids {
		stat, err := statOf(pid)
		if err != nil || slices.Contains(pids, stat.PPID) {
			continue
		}
		if oldest == 0 || stat.Starttime < began {
			oldest, began = pid, stat.Starttime
		}
	}
	return oldest
}

func statOf(pid int) (procfs.ProcStat, error) {
	one, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return one.Stat()
}
