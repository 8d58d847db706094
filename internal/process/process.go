// Package process reads the processes of this machine from /proc. Its one rule: it
// only reads, and sends no signals.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// Below returns the descendants of a process, parents before children. A process whose parent has
// ended becomes a child of its nearest subreaper (PR_SET_CHILD_SUBREAPER), or of process 1 if there
// is none.
func Below(pid int) []int {
	all := Children(pid)
	for i := 0; i < len(all); i++ {
		for _, child := range Children(all[i]) {
			if !slices.Contains(all, child) { // it may be adopted during the search
				all = append(all, child)
			}
		}
	}
	return all
}

// Children returns the children of all threads of a process.
func Children(pid int) []int {
	folder := fmt.Sprintf("/proc/%d/task", pid)
	threads, _ := os.ReadDir(folder) // empty if the process has ended
	var pids []int
	for _, thread := range threads {
		content, err := os.ReadFile(filepath.Join(folder, thread.Name(), "children"))
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

// StartTime returns when a process started, in clock ticks since boot.
func StartTime(pid int) (uint64, error) {
	one, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	stat, err := one.Stat()
	return stat.Starttime, err
}

// InnerPID returns the PID that a process has in its innermost PID namespace; 0 if it has ended.
func InnerPID(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(status), "\nNSpid:")
	line, _, _ := strings.Cut(after, "\n")
	all := strings.Fields(line)
	if len(all) == 0 {
		return pid // a kernel without PID namespaces
	}
	inner, _ := strconv.Atoi(all[len(all)-1]) // the kernel writes numbers
	return inner
}

// Session returns the processes of a session (setsid(2)), without zombies.
func Session(id int) ([]int, error) {
	return liveProcesses(func(stat procfs.ProcStat) bool { return stat.Session == id })
}

// Group returns the processes of a process group (setpgid(2)), without zombies.
func Group(id int) ([]int, error) {
	return liveProcesses(func(stat procfs.ProcStat) bool { return stat.PGRP == id })
}

func liveProcesses(wanted func(procfs.ProcStat) bool) ([]int, error) {
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, one := range processes {
		if stat, err := one.Stat(); err == nil && stat.State != "Z" && wanted(stat) {
			pids = append(pids, one.PID)
		}
	}
	return pids, nil
}

// Uses reports whether a process names a folder in its command line or environment, or has an open
// file or its working directory in it. Without permission to read these, it returns false.
func Uses(pid int, folder string) bool {
	one, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	inside := func(text string) bool { return strings.Contains(text+"/", folder+"/") }
	line, _ := one.CmdLine()
	environment, _ := one.Environ()
	open, _ := one.FileDescriptorTargets()
	here, _ := one.Cwd()
	return inside(strings.Join(line, " ")) || slices.ContainsFunc(environment, inside) || inside(here) || slices.ContainsFunc(open, inside)
}

// ErrNoProgram means that an init process has not started its program yet, or that it has ended.
var ErrNoProgram = errors.New("the process has no program yet")

// inits are the names of processes that only start another one.
var inits = []string{"tini", "dumb-init", "docker-init", "runc:[2:INIT]"}

// Program returns the process itself or, if it is only an init process, the one that it has started.
func Program(first int) (int, error) {
	stat, err := statOf(first)
	if err != nil {
		return 0, ErrNoProgram
	}
	if !slices.Contains(inits, stat.Comm) {
		return first, nil
	}
	for _, child := range Children(first) {
		if stat, err := statOf(child); err == nil && stat.Comm != "tini" { // a child that has not executed its program yet
			return child, nil
		}
	}
	return 0, ErrNoProgram
}

func statOf(pid int) (procfs.ProcStat, error) {
	one, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return one.Stat()
}
