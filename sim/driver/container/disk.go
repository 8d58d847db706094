package container

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/fault"
)

// FillDisk is that of the driver local, inside the container: the small file
// system is seen there only, and ends with it.
func (p *place) FillDisk() (heal func(), err error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: it needs root", fault.ErrNotHere)
	}
	l := p.life.Load()
	const dir = "/etc/nginx"
	if !l.small.Swap(true) {
		if err := within(l.init, func() error { return simulated.MountSmall(dir) }); err != nil {
			l.small.Store(false)
			return nil, err
		}
	}
	return simulated.FillUp(fmt.Sprintf("/proc/%d/root%s", l.init, dir))
}

// within calls f where the files are those that a process sees, on a thread that
// ends with it.
func within(pid int, f func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: no other goroutine gets it
		done <- func() error {
			namespace, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", pid))
			if err != nil {
				return err
			}
			defer namespace.Close()
			if err := unix.Unshare(unix.CLONE_FS); err != nil {
				return fmt.Errorf("%w: %w", fault.ErrNotHere, err)
			}
			if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNS); err != nil {
				return fmt.Errorf("%w: entering the container: %w", fault.ErrNotHere, err)
			}
			return f()
		}()
	}()
	return <-done
}
