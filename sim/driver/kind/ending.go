package kind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/incluster"
	"windtunnel.dev/sim/subject"
)

// hopeless are the waiting reasons of containers that do not start.
var hopeless = []string{"ErrImageNeverPull", "ErrImagePull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}

// failed returns an error if the first container cannot run: how it ended, if it did, with the end of its log.
// It also writes the container's log to controller.log.
func (i *instance) failed(ctx context.Context, pod string, status *corev1.ContainerStatus) error {
	ended, waits := endOf(status), cmp.Or(status.State.Waiting, &corev1.ContainerStateWaiting{})
	switch {
	case slices.Contains(hopeless, waits.Reason), ended == nil && waits.Reason == "CrashLoopBackOff":
		return fmt.Errorf("%s: %s", waits.Reason, waits.Message)
	case ended == nil:
		return nil
	}
	text := i.logOf(ctx, pod, status)
	return errors.Join(incluster.Ended(*ended, text), os.WriteFile(filepath.Join(i.options.Dir, subject.LogName), text, 0o644))
}

// endOf returns how the latest container that has ended did so; nil if there was none.
func endOf(status *corev1.ContainerStatus) *corev1.ContainerStateTerminated {
	return cmp.Or(status.State.Terminated, status.LastTerminationState.Terminated)
}

// logOf returns the log of that container.
func (i *instance) logOf(ctx context.Context, pod string, status *corev1.ContainerStatus) []byte {
	text, err := i.client.CoreV1().Pods(incluster.Namespace).GetLogs(pod, &corev1.PodLogOptions{
		Container: incluster.Container, Previous: status.State.Terminated == nil,
	}).DoRaw(ctx)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// reportPatience bounds the time until the kubelet reports that a container has ended.
const reportPatience = 5 * time.Second

// ending returns how a container that has run ended, with the end of its log; c.err if the kubelet does not
// report it.
func (i *instance) ending(ctx context.Context, c *controllerContainer) error {
	ctx, cancel := context.WithTimeout(ctx, reportPatience)
	defer cancel()
	how := c.err
	_ = driver.Poll(ctx, 50*time.Millisecond, func() (bool, error) { // how is c.err if it fails
		pod, status, err := i.findContainer(ctx)
		if err != nil || status == nil {
			return false, err
		}
		ended := endOf(status)
		if ended == nil || idOf(ended.ContainerID) != c.id {
			return false, nil
		}
		how = incluster.Ended(*ended, i.logOf(ctx, pod, status))
		return true, nil
	})
	return how
}
