// Package signal sends signals to processes of this machine. Its one rule: it never signals a process
// group.
package signal

import (
	"fmt"
	"syscall"
)

// Send sends a signal to a process of this machine; 0 only checks whether that is possible. The error
// is ESRCH if there is no such process.
func Send(pid int, s syscall.Signal) error {
	if pid <= 0 { // kill(2) would signal a process group: with 0, our own
		return fmt.Errorf("sending %v: the process is not there", s)
	}
	if err := syscall.Kill(pid, s); err != nil {
		return fmt.Errorf("sending %v to process %d: %w", s, pid, err)
	}
	return nil
}
