package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/incluster"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

// controllerContainer is a container of the controller, from its start to its end.
type controllerContainer struct {
	id         string // of the container
	controller int
	died       chan struct{}
	err        error // how it ended; set before died is closed
	tail       subject.Tail
	endLog     context.CancelFunc

	mu     sync.Mutex
	nginx  int       // the nginx master as last seen; 0 if there was none
	looked time.Time // when master last searched for one
}

// awaitContainer waits for a container that is not the previous one, and follows its log.
func (i *instance) awaitContainer(ctx context.Context) (*controllerContainer, error) {
	c := &controllerContainer{died: make(chan struct{})}
	before := i.current.Load()
	var pod string
	err := driver.Poll(ctx, 50*time.Millisecond, func() (bool, error) {
		found, status, err := i.findContainer(ctx)
		if err != nil || status == nil {
			return false, err
		}
		if before == nil {
			if err := i.failed(ctx, found, status); err != nil {
				return false, err
			}
		}
		id := idOf(status.ContainerID)
		if status.State.Running == nil || id == "" || before != nil && before.id == id {
			return false, nil
		}
		c.controller, err = kindcluster.Main(id)
		if errors.Is(err, kindcluster.ErrNoProcess) {
			return false, nil
		}
		c.id, pod = id, found
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return c, i.follow(c, pod)
}

// findContainer returns the controller's pod and the status of its container; the status is nil
// while there is none.
func (i *instance) findContainer(ctx context.Context) (pod string, _ *corev1.ContainerStatus, _ error) {
	list, err := i.client.CoreV1().Pods(incluster.Namespace).List(ctx, metav1.ListOptions{LabelSelector: incluster.Selector})
	if err != nil {
		return "", nil, err
	}
	for _, pod := range list.Items {
		at := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == incluster.Container })
		if at >= 0 && pod.DeletionTimestamp == nil {
			return pod.Name, &pod.Status.ContainerStatuses[at], nil
		}
	}
	return "", nil, nil
}

// follow starts to follow the container's log and to wait for its end.
func (i *instance) follow(c *controllerContainer, pod string) error {
	file, err := subject.OpenLog(i.options.Dir, i.options.Log, i.subject.Name)
	if err != nil {
		return err
	}
	end, err := unix.PidfdOpen(c.controller, 0)
	if err != nil {
		file.Close()
		return fmt.Errorf("the controller ended immediately: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.endLog = cancel
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		defer file.Close()
		stream, err := i.client.CoreV1().Pods(incluster.Namespace).GetLogs(pod, &corev1.PodLogOptions{Container: incluster.Container, Follow: true}).Stream(ctx)
		if err != nil {
			fmt.Fprintln(&c.tail, "its log cannot be read:", err)
			return
		}
		defer stream.Close()
		subject.FollowLog(stream, io.MultiWriter(&c.tail, file), i.options.Log, i.subject.Name, i.setup.Read)
	}()
	go func() {
		awaitEnd(end)
		unix.Close(end)
		time.AfterFunc(time.Second, cancel) // the stream ends by itself, unless its server has ended as well
		<-followed
		cancel()
		c.err = fmt.Errorf("the controller of subject %s ended: %s", i.subject.Name, c.tail.Last())
		close(c.died)
	}()
	return nil
}

// awaitEnd returns when the process of a pidfd has ended, because the pidfd is readable then.
func awaitEnd(pidfd int) {
	for {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, -1); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// end waits for the end of the container. In a kept cluster the controller continues; then end only
// stops following its log.
func (c *controllerContainer) end() {
	defer c.endLog()
	if probe.Exists(c.controller) {
		return
	}
	<-c.died
}

// master returns the PID of the nginx master. It is called a hundred times per second. Checking a
// known master is cheap; the search for a new one runs at most ten times per second.
func (c *controllerContainer) master(processes adapter.Processes) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nginx != 0 && probe.IsMaster(c.nginx, processes) {
		return c.nginx, nil
	}
	c.nginx = 0
	if time.Since(c.looked) < 100*time.Millisecond {
		return 0, probe.ErrNoMaster
	}
	c.looked = time.Now()
	for _, pid := range kindcluster.Processes(c.id) {
		if probe.IsMaster(pid, processes) {
			c.nginx = pid
			return pid, nil
		}
	}
	return 0, probe.ErrNoMaster
}
