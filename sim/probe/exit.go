package probe

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/event"
)

// exits knows how processes that are not our children ended. It holds a pidfd for each process, so
// that Linux keeps the exit status after the parent has reaped the process (PIDFD_GET_INFO with
// PIDFD_INFO_EXIT, since 6.15). On older kernels, the status is known only until the process is
// reaped.
type exits map[int]int // pidfds by PID

// follow opens a pidfd of a live process.
func (e exits) follow(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil { // an error means an older kernel, or that it has just ended
		e[pid] = fd
	}
}

// isDying reports that a process has not ended yet, though it may have released its memory, and
// with it its title. A pidfd is readable when the process has ended.
func (e exits) isDying(pid int) bool {
	fd, held := e[pid]
	if !held {
		return false
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n == 0
}

// take returns how a process ended, nil if that is not known, and forgets the process.
func (e exits) take(pid int) *event.Exit {
	fd, held := e[pid]
	status, known := zombieStatus(pid)
	if held {
		if !known { // it has been reaped
			status, known = reapedStatus(fd)
		}
		unix.Close(fd)
		delete(e, pid)
	}
	switch {
	case !known:
		return nil
	case status.Signaled():
		return &event.Exit{Signal: unix.SignalName(status.Signal())}
	}
	return &event.Exit{Code: status.ExitStatus()}
}

func (e exits) close() {
	for _, fd := range e {
		unix.Close(fd)
	}
	clear(e)
}

// zombieStatus returns the exit status of a process that has ended and has not been reaped: the
// last field of /proc/PID/stat (proc_pid_stat(5)).
func zombieStatus(pid int) (unix.WaitStatus, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) == 0 || string(fields[0]) != "Z" {
		return 0, false
	}
	status, err := strconv.Atoi(string(fields[len(fields)-1]))
	return unix.WaitStatus(status), err == nil
}

func reapedStatus(pidfd int) (unix.WaitStatus, bool) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_EXIT}
	err := unix.IoctlPidfdInfo(pidfd, &info)
	return unix.WaitStatus(info.Exit_code), err == nil && info.Mask&unix.PIDFD_INFO_EXIT != 0
}
