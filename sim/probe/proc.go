package probe

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/event"
)

// clockTick is the unit of the times in /proc/PID/stat: USER_HZ is 100 on every
// Linux that Go runs on (proc_pid_stat(5)).
const clockTick = 10 * time.Millisecond

// children lists the children of a single-threaded process, including zombies. The kernel may omit
// some children while others end, so a missing child has ended only if its own entry in /proc says
// so.
func children(pid int) ([]int, error) {
	list, err := readProc(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, err
	}
	var pids []int
	for field := range bytes.FieldsSeq(list) {
		child, err := strconv.Atoi(string(field))
		if err != nil {
			return nil, fmt.Errorf("reading the children of process %d: %w", pid, err)
		}
		pids = append(pids, child)
	}
	return pids, nil
}

// readProc reads a file of /proc with half of the system calls of os.ReadFile, which asks for the
// size, reads up to the end and tries to wait for the file. This matters because workers are
// sampled a hundred times a second.
func readProc(path string) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	for err == unix.EINTR {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	var page [4096]byte
	var text []byte
	for {
		n, err := unix.Read(fd, page[:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		text = append(text, page[:n]...)
		if n < 2048 { // the kernel leaves out at most the entry that does not fit
			return text, nil
		}
	}
}

// title returns the command line of a process as one text, which a process can replace by a title;
// "" if it has ended.
func title(pid int) string { return strings.Join(Command(pid), " ") }

// titleState returns the state of a titled worker; ok is false for any other title. A proxy may have
// helpers with titles of their own, and a worker has none yet between its fork and its first event.
func titleState(p adapter.Processes, title string) (state event.WorkerState, ok bool) {
	title = strings.TrimRight(title, " ")
	switch {
	case p.Draining.Match(title):
		return event.Draining, true
	case p.Worker.Match(title):
		return event.Active, true
	}
	return event.Exited, false
}

// runsLike reports whether a process runs, and runs the same program as another one. It also returns
// true if the other one has ended, because its children survive it.
func runsLike(master, pid int) bool {
	stat, err := procStat(pid)
	if err != nil || stat.State == "Z" {
		return false
	}
	theirs, err := procStat(master)
	if err != nil {
		return true
	}
	ours, ourErr := os.Stat(fmt.Sprintf("/proc/%d/exe", pid))
	program, err := os.Stat(fmt.Sprintf("/proc/%d/exe", master))
	if ourErr != nil || err != nil { // no permission to read it
		return theirs.Comm == stat.Comm
	}
	return os.SameFile(ours, program)
}

// startedAt returns when a process started, since boot, rounded down to clockTick.
func startedAt(pid int) (time.Duration, error) {
	stat, err := procStat(pid)
	return time.Duration(stat.Starttime) * clockTick, err
}

func procStat(pid int) (procfs.ProcStat, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return proc.Stat()
}

// sinceBoot returns the current time on the clock of startedAt.
func sinceBoot() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &now); err != nil {
		panic("probe: this kernel has no boot clock: " + err.Error()) // since Linux 2.6.39
	}
	return time.Duration(now.Nano())
}

// Exists reports whether a process exists, whoever owns it.
func Exists(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || err == unix.EPERM
}

// gone reports whether an error from /proc means that the process has ended: its directory is not
// there, or went away while we read (ESRCH).
func gone(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ESRCH)
}
