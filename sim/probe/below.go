package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// masterTitle is what nginx's master calls itself, and a worker until it has its
// own title.
const masterTitle = "nginx: master process"

// ErrNoMaster says that no nginx master runs below a process.
var ErrNoMaster = errors.New("no nginx master runs")

// Below are the processes below one, parents before their children: those of a
// container, below its first process.
func Below(pid int) []int {
	all := offspring(pid)
	for i := 0; i < len(all); i++ {
		for _, child := range offspring(all[i]) {
			if !slices.Contains(all, child) { // adopted while we looked
				all = append(all, child)
			}
		}
	}
	return all
}

// offspring are the children of all threads of a process.
func offspring(pid int) []int {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well-formed
	var pids []int
	for _, list := range lists {
		content, err := os.ReadFile(list)
		if err != nil {
			continue // it has ended
		}
		for field := range bytes.FieldsSeq(content) {
			if child, err := strconv.Atoi(string(field)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids
}

// MasterBelow is the nginx master among the processes below one; of two, the one
// that is nearer to it.
func MasterBelow(pid int) (int, error) {
	all := Below(pid)
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
