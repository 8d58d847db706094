package probe

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/event"
)

// ends tells how processes that are not our children ended. It holds a pidfd
// for each: Linux keeps the exit status for it after the parent has reaped the
// process (PIDFD_GET_INFO with PIDFD_INFO_EXIT, since 6.15). Where the kernel
// does not, only that of a process which nobody has reaped yet is known.
type ends map[int]int // pidfds by PID

// follow holds on to a live process.
func (e ends) follow(pid int) {
	if fd, err := unix.PidfdOpen(pid, 0); err == nil { // else an older kernel, or it ended meanwhile
		e[pid] = fd
	}
}

// dying says that a process has not ended yet, though it may have lost its
// memory, and with it its title: a pidfd is readable when it has.
func (e ends) dying(pid int) bool {
	fd, held := e[pid]
	if !held {
		return false
	}
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n == 0
}

// of says how a process ended, and forgets it. It is nil where nothing tells.
func (e ends) of(pid int) *event.Exit {
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

func (e ends) close() {
	for _, fd := range e {
		unix.Close(fd)
	}
	clear(e)
}

// zombieStatus is the last field of /proc/PID/stat (proc_pid_stat(5)), of a
// process that has ended and not been waited for.
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
