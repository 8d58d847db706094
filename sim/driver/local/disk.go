package local

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/fault"
)

// FillDisk puts a small file system of its own where the controller writes
// nginx.conf, with all that is there, and fills it to the brim. It stays when it is
// healed, with room again: what the controller has written by then must not be lost.
func (p *place) FillDisk() (heal func(), err error) {
	dir := filepath.Join(p.cluster.Root, "etc/nginx")
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: it needs root", fault.ErrNotHere)
	}
	if !p.mounted.Swap(true) {
		if err := simulated.MountSmall(dir); err != nil {
			p.mounted.Store(false)
			return nil, err
		}
	}
	return simulated.FillUp(dir)
}

// unmount takes the small file system away, if there is one.
func (p *place) unmount() error {
	if !p.mounted.Load() {
		return nil
	}
	if err := unix.Unmount(filepath.Join(p.cluster.Root, "etc/nginx"), unix.MNT_DETACH); err != nil {
		return fmt.Errorf("taking the small file system away: %w", err)
	}
	return nil
}
