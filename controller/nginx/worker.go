package nginx

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// Worker is a worker process of a master, as /proc shows it.
type Worker struct {
	PID int
	// Draining means that it has stopped accepting connections and only finishes its requests.
	Draining bool
	// Started is when the master forked it, with a precision of 10 ms.
	Started time.Time
}

// The titles of nginx's processes. A worker gets workerTitle when it has finished its
// initialisation, including init_worker_by_lua.
const (
	workerTitle   = "nginx: worker process"
	drainingTitle = workerTitle + " is shutting down"
	// masterTitle is also the title of a forked process that is still initialising.
	masterTitle = "nginx: master process"
)

// clockTick is the unit of a process's start time in /proc. USER_HZ is 100 on every architecture on
// which Go supports Linux.
const clockTick = time.Second / 100

// Workers returns the worker processes of a master that have finished their initialisation and have
// not exited, oldest first. If the master does not exist, the error wraps fs.ErrNotExist.
func Workers(master int) ([]Worker, error) {
	children, err := children(master)
	if err != nil {
		return nil, fmt.Errorf("looking for the workers of nginx master %d: %w", master, err)
	}
	boot, err := bootTime()
	if err != nil {
		return nil, fmt.Errorf("looking for the workers of nginx master %d: %w", master, err)
	}
	var workers []Worker
	for _, pid := range children {
		title, start, err := inspect(pid)
		if gone(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking at process %d: %w", pid, err)
		}
		if title == workerTitle || title == drainingTitle {
			workers = append(workers, Worker{PID: pid, Draining: title == drainingTitle, Started: boot.Add(start)})
		}
	}
	return workers, nil
}

// starting reports whether a master has forked processes that are still initialising. On a reload
// the master forks all new workers before the first old one drains.
func starting(master int) (bool, error) {
	children, err := children(master)
	if err != nil {
		return false, fmt.Errorf("looking for starting workers of nginx master %d: %w", master, err)
	}
	for _, pid := range children {
		title, _, err := inspect(pid)
		if err != nil && !gone(err) {
			return false, fmt.Errorf("looking at process %d: %w", pid, err)
		}
		if strings.HasPrefix(title, masterTitle) {
			return true, nil
		}
	}
	return false, nil
}

// children returns the PIDs of a process's children, oldest first. It reads only the first thread,
// because the master has one.
func children(pid int) ([]int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, field := range strings.Fields(string(text)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, child)
	}
	return pids, nil
}

// inspect returns the title of a process ("" for a zombie) and, for a worker, its start time since
// the boot of the machine.
func inspect(pid int) (title string, start time.Duration, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "", 0, err
	}
	title = string(bytes.TrimRight(text, "\x00 "))
	if !strings.HasPrefix(title, workerTitle) {
		return title, 0, nil
	}
	process, err := procfs.NewProc(pid)
	if err != nil {
		return "", 0, err
	}
	stat, err := process.Stat()
	if err != nil {
		return "", 0, err
	}
	return title, time.Duration(stat.Starttime) * clockTick, nil
}

func bootTime() (time.Time, error) {
	var up unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &up); err != nil {
		return time.Time{}, err
	}
	return time.Now().Add(-time.Duration(up.Nano())), nil
}

// gone reports whether an error means that a process has ended.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
}
