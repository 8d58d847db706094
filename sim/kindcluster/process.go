package kindcluster

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"
)

// Processes are the processes of this machine that are a container's, by the
// name of their control group.
func Processes(id string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	var pids []int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte(id)) { // an error: it has ended
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // a number by the pattern
		pids = append(pids, pid)
	}
	return pids
}

// ErrNoProcess says that what a container is for has not started yet, or has ended.
var ErrNoProcess = errors.New("the container has no process yet")

// Main is the process that a container is for: its first, or where that only
// reaps others, the one that it started.
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
	stat, err := statOf(first)
	if err != nil {
		return 0, ErrNoProcess
	}
	if !slices.Contains([]string{"tini", "dumb-init", "docker-init", "runc:[2:INIT]"}, stat.Comm) {
		return first, nil
	}
	for _, pid := range pids {
		if parent[pid] == first {
			if stat, err := statOf(pid); err == nil && stat.Comm != "tini" { // not yet
				return pid, nil
			}
		}
	}
	return 0, ErrNoProcess
}

func statOf(pid int) (procfs.ProcStat, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return process.Stat()
}
