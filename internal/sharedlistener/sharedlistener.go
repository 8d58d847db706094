// Package sharedlistener lets many addresses share one listening socket. A BPF program in the
// kernel's socket lookup (BPF_PROG_TYPE_SK_LOOKUP, Linux 5.9 or newer) passes connections and
// datagrams for an open address to the shared socket of its port. Its one rule: the kernel treats an
// address that is not open as if nobody listened there, and refuses.
//
// The program is attached to the network namespace of the process. All sockets of a process share one
// program. The kernel removes it when the process ends, even if it is killed.
package sharedlistener

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// ErrUnsupported means that the kernel lacks the socket lookup, or does not permit this process to
// use it. The error that wraps it says why.
var ErrUnsupported = errors.New("the kernel does not let addresses share a socket")

// Supported returns nil if this process can share sockets. Otherwise the error wraps ErrUnsupported,
// or is a fault of this package.
func Supported() error {
	t, err := acquire()
	if err != nil {
		return err
	}
	t.release()
	return nil
}

// unsupported wraps the errors of a kernel that lacks the socket lookup or denies it: see bpf(2). E2BIG
// means that 64 programs are attached to the network namespace, which is the kernel's limit.
func unsupported(what string, err error) error {
	for _, lacking := range []error{unix.EPERM, unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.E2BIG, ebpf.ErrNotSupported} {
		if errors.Is(err, lacking) {
			return fmt.Errorf("%w: %s: %w (it needs Linux 5.9 or newer, CAP_BPF and CAP_NET_ADMIN)", ErrUnsupported, what, err)
		}
	}
	return fmt.Errorf("share a socket: %s: %w", what, err)
}

// onSocket calls f with the descriptor of a socket.
func onSocket(c syscall.Conn, f func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = f(int(fd)) }); err != nil {
		return err
	}
	return failed
}
