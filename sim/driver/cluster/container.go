package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/driver/incluster"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/subject"
)

// container is a container of the controller, in its pod.
type container struct {
	pod, node string
	address   netip.Addr
	id        string
	tail      subject.Tail
	died      chan struct{}
	err       error // how it ended; set before died is closed
}

// awaitController waits for the controller's first container, or for the next one.
func (i *instance) awaitController(ctx context.Context) error {
	last := i.current.Load()
	return poll(ctx, func() (bool, error) {
		pod, status, err := i.findController(ctx)
		if err != nil || pod == nil {
			return false, err
		}
		if last != nil && (status == nil || status.State.Running == nil || status.ContainerID == last.id) {
			return false, nil // the kubelet restarts it
		}
		if status == nil || status.State.Running == nil {
			return false, i.failed(ctx, *pod, status)
		}
		address, err := netip.ParseAddr(pod.Status.PodIP)
		if err != nil {
			return false, nil //nolint:nilerr // it has none yet
		}
		i.current.Store(&container{pod: pod.Name, node: pod.Spec.NodeName, address: address, id: status.ContainerID, died: make(chan struct{})})
		return true, nil
	})
}

// findController returns the controller's pod and the status of its container; nil while there is none.
func (i *instance) findController(ctx context.Context) (*corev1.Pod, *corev1.ContainerStatus, error) {
	list, err := i.driver.client.CoreV1().Pods(i.home.name()).List(ctx, metav1.ListOptions{LabelSelector: incluster.Selector})
	if err != nil {
		return nil, nil, err
	}
	for n, pod := range list.Items {
		if pod.DeletionTimestamp != nil {
			continue
		}
		at := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == incluster.Container })
		if at < 0 {
			return &list.Items[n], nil, nil
		}
		return &list.Items[n], &list.Items[n].Status.ContainerStatuses[at], nil
	}
	return nil, nil, nil
}

// failed returns an error if the first container cannot run, with the end of its log if it has one. It
// also writes the container's log to controller.log.
func (i *instance) failed(ctx context.Context, pod corev1.Pod, status *corev1.ContainerStatus) error {
	if status == nil {
		return nil // a pod that is not scheduled yet may be soon
	}
	ended := cmp.Or(status.State.Terminated, status.LastTerminationState.Terminated)
	if ended == nil {
		why := whyNotRunning(pod)
		if why == "" {
			return nil
		}
		if waits := status.State.Waiting; waits != nil && strings.HasSuffix(waits.Reason, "ContainerError") {
			return notRunning{errors.New(why)}
		}
		return errors.New(why)
	}
	text, err := i.driver.client.CoreV1().Pods(i.home.name()).GetLogs(pod.Name, &corev1.PodLogOptions{
		Container: incluster.Container, Previous: status.State.Terminated == nil,
	}).DoRaw(ctx)
	if err != nil {
		text = []byte(err.Error())
	}
	return errors.Join(notRunning{incluster.Ended(*ended, text)}, os.WriteFile(filepath.Join(i.options.Dir, subject.LogName), text, 0o644))
}

// notRunning is the error of a controller whose container does not start, or has ended.
type notRunning struct{ error }

func (n notRunning) Unwrap() error { return n.error }

// withNeeds adds to the error of a first start what the driver needs of the image of another controller than
// the bundled one, if its container does not run.
func (i *instance) withNeeds(err error) error {
	if why := (notRunning{}); i.isBundled() || !errors.As(err, &why) {
		return err
	}
	return fmt.Errorf("%w; with --driver cluster, an image must run as user 101, and have its program at %s: use --driver kind or container for others", err, forkProgram)
}

// follow follows the log of the controller's container, and the container, until the instance stops.
func (i *instance) follow(context.Context) error {
	file, err := subject.OpenLog(i.options.Dir, i.options.Log, i.subject.Name)
	if err != nil {
		return err
	}
	if i.watching == nil {
		i.alive, i.watching = context.WithCancel(context.Background())
	}
	c := i.current.Load()
	i.watched.Go(func() {
		defer file.Close()
		i.followLog(i.alive, c, io.MultiWriter(file, &c.tail))
	})
	i.watched.Go(func() { i.watchContainer(i.alive, c) })
	return nil
}

// followLog copies the log of a container. Syncs get the times of our clock.
func (i *instance) followLog(ctx context.Context, c *container, keep io.Writer) {
	stream, err := i.driver.client.CoreV1().Pods(i.home.name()).GetLogs(c.pod, &corev1.PodLogOptions{Container: incluster.Container, Follow: true}).Stream(ctx)
	if err != nil {
		fmt.Fprintln(keep, "its log cannot be read:", err)
		return
	}
	defer stream.Close()
	peer := i.peer(c.pod, c.node)
	if peer.MeasureClock(ctx) != nil {
		peer = nil // the observer has not started yet: the first syncs are outside of the rounds
	}
	subject.FollowLog(stream, keep, i.options.Log, i.subject.Name, func(line []byte) (*event.Sync, time.Time) {
		sync, at := i.setup.Read(line)
		if sync == nil || at.IsZero() {
			return sync, at
		}
		if peer == nil {
			if peer = i.peer(c.pod, c.node); peer.MeasureClock(ctx) != nil {
				peer = nil
				return sync, time.Time{} // when the line arrived
			}
		}
		return sync, peer.Ours(at)
	})
}

// watchContainer closes died when the container no longer runs.
func (i *instance) watchContainer(ctx context.Context, c *container) {
	err := poll(ctx, func() (bool, error) {
		pod, err := i.driver.client.CoreV1().Pods(i.home.name()).Get(ctx, c.pod, metav1.GetOptions{})
		if gone(err) == nil && err != nil {
			return false, errors.New("its pod was deleted")
		}
		if err != nil {
			return false, nil //nolint:nilerr // the API server may be away for a moment
		}
		at := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == incluster.Container })
		if at >= 0 && pod.Status.ContainerStatuses[at].ContainerID == c.id && pod.Status.ContainerStatuses[at].State.Running != nil {
			return false, nil
		}
		if why := whyNotRunning(*pod); why != "" {
			return false, errors.New(why)
		}
		return false, errors.New("its container was restarted")
	})
	if ctx.Err() != nil {
		err = errors.New("the run has stopped it")
	}
	c.err = fmt.Errorf("the controller of subject %s ended: %w: %s", i.subject.Name, err, c.tail.Last())
	close(c.died)
}
