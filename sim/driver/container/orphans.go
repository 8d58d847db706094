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

// The labels of our containers: of which subject of which run, and of whom.
const (
	runLabel     = "dev.windtunnel.run"
	harnessLabel = "dev.windtunnel.harness"
)

// harness says which process a container belongs to: PID, start in clock ticks
// since boot, for PIDs come again, and PID namespace, as those of another cannot be
// looked for.
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
		return "", os.ErrNotExist // killed, and its parent has not asked for it yet
	}
	return fmt.Sprintf("%d %d %s", pid, stat.Starttime, namespace), nil
}

// removeOrphans removes the containers of harnesses that no longer live.
func removeOrphans(ctx context.Context, api client.APIClient) error {
	all, err := api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("label", harnessLabel)})
	if err != nil {
		return fmt.Errorf("looking for containers of earlier runs: %w", err)
	}
	var errs []error
	for _, one := range all.Items {
		if orphan(one.Labels[harnessLabel]) {
			errs = append(errs, remove(ctx, api, one.ID))
		}
	}
	return errors.Join(errs...)
}

// orphan says whether the process of a label is gone. One of another PID
// namespace may live.
func orphan(label string) bool {
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

// remove ends a container, if need be, and removes it with what it wrote.
func remove(ctx context.Context, api client.APIClient, id string) error {
	_, err := api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing container %s: %w", id, err)
	}
	return nil
}

// us is the label of this process.
func us() (string, error) {
	label, err := harness(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("finding out who we are (process %d): %w", os.Getpid(), err)
	}
	return label, nil
}
