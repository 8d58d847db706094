package port

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// claimed is the number of ports of this process that are reserved against other processes. The
// users of earlier ports are listening by now, or never will.
const claimed = 2000

// claims are the ports that this process has returned recently. Byte N of a file that all processes
// of the user share represents port N. A locked byte means a claimed port, so two processes do not
// return the same port before its user listens. The kernel releases the locks of a process that
// ends (fcntl(2), open file description locks).
type claims struct {
	file   *os.File
	ranges []portRange // the oldest first
	ports  int
}

type portRange struct{ base, n int }

// take claims the n ports from base. It returns false if another process has claimed one of them. If
// the file cannot be used, all ports are free to take.
func (c *claims) take(base, n int) bool {
	if c.file == nil {
		// Not in os.TempDir: processes with their own TMPDIR use the same ports.
		file, err := os.OpenFile(fmt.Sprintf("/tmp/windtunnel-ports-%d", os.Getuid()), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return true
		}
		c.file = file
	}
	err := c.lock(unix.F_WRLCK, portRange{base, n})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false
	} else if err != nil {
		return true
	}
	c.ranges = append(c.ranges, portRange{base, n})
	c.ports += n
	for c.ports > claimed && len(c.ranges) > 1 {
		c.lock(unix.F_UNLCK, c.ranges[0]) // unlocking does not conflict with other locks
		c.ports -= c.ranges[0].n
		c.ranges = c.ranges[1:]
	}
	return true
}

func (c *claims) lock(kind int16, r portRange) error {
	lock := unix.Flock_t{Type: kind, Start: int64(r.base), Len: int64(r.n)}
	return unix.FcntlFlock(c.file.Fd(), unix.F_OFD_SETLK, &lock)
}
