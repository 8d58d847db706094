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
	pids := Processes(id)
	parent := map[int]int{}
	for _, pid := range pids {
		stat, err := statOf(pid)
		if err != nil {
			continue
		}
		parent[pid] = stat.PPID
	}
	first := 0
	for _, pid := range pids {
		if p, lives := parent[pid]; lives && !slices.Contains(pids, p) {
			first = pid
		}
	}
	program, err := process.Program(first)
	if err != nil {
		return 0, ErrNoProcess
	}
	return program, nil
}

func statOf(pid int) (procfs.ProcStat, error) {
	one, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return one.Stat()
}
