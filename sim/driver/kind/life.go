package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

// container is the name of the controller's container in its pod.
const container = "controller"

// life is a container of the controller, from its start to its end.
type life struct {
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

// newLife waits for a container that is not that of the previous life, and follows its log.
func (i *instance) newLife(ctx context.Context) (*life, error) {
	l := &life{died: make(chan struct{})}
	before := i.life.Load()
	var pod string
	err := poll(ctx, 50*time.Millisecond, func() (bool, error) {
		found, status, err := i.container(ctx)
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
		l.controller, err = kindcluster.Main(id)
		if errors.Is(err, kindcluster.ErrNoProcess) {
			return false, nil
		}
		l.id, pod = id, found
		return err == nil, err
	})
	if err != nil {
		return nil, err
	}
	return l, i.follow(l, pod)
}

// container returns the controller's pod and the status of its container; the status is nil while
// there is none.
func (i *instance) container(ctx context.Context) (pod string, _ *corev1.ContainerStatus, _ error) {
	list, err := i.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return "", nil, err
	}
	for _, pod := range list.Items {
		at := slices.IndexFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool { return c.Name == container })
		if at >= 0 && pod.DeletionTimestamp == nil {
			return pod.Name, &pod.Status.ContainerStatuses[at], nil
		}
	}
	return "", nil, nil
}

// failed returns an error if the first container cannot run, with its last log line if it has one.
// It also writes the container's log to controller.log.
func (i *instance) failed(ctx context.Context, pod string, status *corev1.ContainerStatus) error {
	if waits := status.State.Waiting; waits != nil && slices.Contains([]string{"ErrImageNeverPull", "ErrImagePull", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"}, waits.Reason) {
		return fmt.Errorf("%s: %s", waits.Reason, waits.Message)
	}
	ended := status.State.Terminated
	if ended == nil {
		ended = status.LastTerminationState.Terminated
	}
	if ended == nil {
		return nil
	}
	text, err := i.client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container, Previous: status.State.Terminated == nil}).DoRaw(ctx)
	if err != nil {
		text = []byte(err.Error())
	}
	var last subject.Tail
	last.Write(text)
	return errors.Join(
		fmt.Errorf("the controller ended with code %d: %s", ended.ExitCode, last.Last()),
		os.WriteFile(filepath.Join(i.room.Dir, "controller.log"), text, 0o644))
}

// follow starts to follow the container's log and to wait for its end.
func (i *instance) follow(l *life, pod string) error {
	file, err := os.OpenFile(filepath.Join(i.room.Dir, "controller.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	end, err := unix.PidfdOpen(l.controller, 0)
	if err != nil {
		file.Close()
		return fmt.Errorf("the controller ended immediately: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.endLog = cancel
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		defer file.Close()
		stream, err := i.client.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{Container: container, Follow: true}).Stream(ctx)
		if err != nil {
			fmt.Fprintln(&l.tail, "its log cannot be read:", err)
			return
		}
		defer stream.Close()
		subject.FollowLog(stream, io.MultiWriter(file, &l.tail), i.room.Log, i.subject.Name)
	}()
	go func() {
		awaitEnd(end)
		unix.Close(end)
		time.AfterFunc(time.Second, cancel) // the stream ends by itself, unless its server has ended as well
		<-followed
		cancel()
		l.err = fmt.Errorf("the controller of subject %s ended: %s", i.subject.Name, l.tail.Last())
		close(l.died)
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

// end waits for the end of the life. In a kept cluster the controller continues; then end only
// stops following its log.
func (l *life) end() {
	defer l.endLog()
	if probe.Exists(l.controller) {
		return
	}
	<-l.died
}

// master returns the PID of the nginx master. It is called a hundred times per second. Checking a
// known master is cheap; the search for a new one runs at most ten times per second.
func (l *life) master() (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.nginx != 0 && probe.IsMaster(l.nginx) {
		return l.nginx, nil
	}
	l.nginx = 0
	if time.Since(l.looked) < 100*time.Millisecond {
		return 0, probe.ErrNoMaster
	}
	l.looked = time.Now()
	for _, pid := range kindcluster.Processes(l.id) {
		if probe.IsMaster(pid) {
			l.nginx = pid
			return pid, nil
		}
	}
	return 0, probe.ErrNoMaster
}
