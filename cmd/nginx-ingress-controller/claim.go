package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/nginx"
)

// claimRoot locks a root directory against other controllers, and ends the nginx of a killed
// controller that used it. The lock ends when the file is closed or this process ends. Without
// --nginx-root it does nothing: in a container, nginx ends with the controller.
func claimRoot(root string, log *slog.Logger) (*os.File, error) {
	if root == "" {
		return nil, nil
	}
	claim, err := os.OpenFile(filepath.Join(root, ".controller.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--nginx-root %s: %w", root, err)
	}
	if err := unix.Flock(int(claim.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		claim.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("--nginx-root %s: another controller runs there; stop it or choose another directory", root)
		}
		return nil, fmt.Errorf("--nginx-root %s: locking %s: %w", root, claim.Name(), err)
	}
	files := apply.Layout{Root: root}
	master, err := nginx.EndLeftover(root, files.PID(), files.Conf())
	if err != nil {
		claim.Close()
		return nil, fmt.Errorf("--nginx-root %s: %w", root, err)
	}
	if master != 0 {
		log.Warn("stopped the nginx that an earlier controller left running", "master", master)
	}
	return claim, nil
}
