package container

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"
	"github.com/prometheus/procfs"
)

// The labels of our containers: the run and subject, and the harness process that owns the
// container.
const (
	runLabel     = "dev.windtunnel.run"
	harnessLabel = "dev.windtunnel.harness"
)

// harness returns a label that identifies a process: its PID, its start time in clock ticks since
// boot, because PIDs are reused, and its PID namespace, because processes of another namespace are
// not visible.
func harness(pid int) (string, error) {
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	process, err := procfs.NewProc(pid)
	if err != nil {
		return "", err
	}
	stat, err := process.Stat()
	if err != nil {
		return "", err
	}
	if stat.State == "Z" {
		return "", os.ErrNotExist // a zombie: it has ended, but its parent has not waited for it
	}
	return fmt.Sprintf("%d %d %s", pid, stat.Starttime, namespace), nil
}

// removeOrphans removes the containers of harnesses that have ended.
func removeOrphans(ctx context.Context, api client.APIClient) error {
	all, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", harnessLabel)})
	if err != nil {
		return fmt.Errorf("list containers of earlier runs: %w", err)
	}
	var errs []error
	for _, one := range all.Items {
		if isOrphan(one.Labels[harnessLabel]) {
			errs = append(errs, remove(ctx, api, one.ID))
		}
	}
	return errors.Join(errs...)
}

// isOrphan reports whether the process of a label has ended. It returns false for a process in
// another PID namespace, which may be alive.
func isOrphan(label string) bool {
	var pid int
	var started uint64
	var namespace string
	if n, _ := fmt.Sscan(label, &pid, &started, &namespace); n != 3 {
		return false
	}
	if here, err := os.Readlink("/proc/self/ns/pid"); err != nil || here != namespace {
		return false
	}
	now, err := harness(pid)
	return errors.Is(err, os.ErrNotExist) || err == nil && now != label
}

// remove kills a container if it is running, and removes it with its volumes. It returns nil if
// another harness removes it at the same time, which the engine reports as a conflict.
func remove(ctx context.Context, api client.APIClient, id string) error {
	_, err := api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}

// harnessIdentity returns the label of this process.
func harnessIdentity() (string, error) {
	label, err := harness(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("identify our own process (%d): %w", os.Getpid(), err)
	}
	return label, nil
}
