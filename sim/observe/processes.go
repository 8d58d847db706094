package observe

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"windtunnel.dev/sim/event"
)

// InsideCommand is the hidden command of windtunnel that calls Inside.
const InsideCommand = "observe-inside"

const (
	// insidePatience is how long an ephemeral container may take to start.
	insidePatience = time.Minute
	// longestInside is how long an ephemeral container runs if the observation has no end.
	longestInside = 24 * time.Hour
	// mostPIDs is the largest number of processes that a kernel has (PID_MAX_LIMIT).
	mostPIDs = 1 << 22
)

// lookInside adds an ephemeral container to the pod of a controller, and logs the events that it prints.
func (ob *observation) lookInside(ctx context.Context, c *controller, running *sync.WaitGroup) {
	if ob.Ephemeral == "" || c.pod == nil {
		return
	}
	number := ob.controllers.inside.add()
	running.Go(func() {
		err := ob.runInside(ctx, c, number)
		if ctx.Err() == nil {
			ob.endInside(c.name, number, err)
		}
	})
}

// endInside logs that the processes of a pod can no longer be observed before the end of the
// observation: the pod is gone, or its log ended. Its workers count as exited.
func (ob *observation) endInside(pod string, number int, err error) {
	for _, worker := range ob.controllers.inside.remove(number) {
		worker.State = event.Exited
		ob.log.Write(event.Event{At: ob.log.Now(), Subject: subjectName, Worker: &worker})
	}
	ob.trouble("the processes of "+pod+" cannot be observed", cmp.Or(err, errLogEnded).Error())
}

var errLogEnded = errors.New("the log of its ephemeral container ended")

func (ob *observation) runInside(ctx context.Context, c *controller, number int) error {
	pod := c.pod
	container := "windtunnel-" + strings.ToLower(rand.Text()[:6])
	if err := ob.addContainer(ctx, pod, container); err != nil {
		return fmt.Errorf("add an ephemeral container: %w", err)
	}
	if err := ob.awaitContainer(ctx, pod, container); err != nil {
		return fmt.Errorf("start the ephemeral container %s: %w", container, err)
	}
	printed, err := ob.client.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container, Follow: true}).Stream(ctx)
	if err != nil {
		return err
	}
	defer printed.Close()
	return ob.readInside(printed, c.name, number)
}

// addContainer adds an ephemeral container that shares the processes of the controller's container.
func (ob *observation) addContainer(ctx context.Context, pod *corev1.Pod, name string) error {
	length := longestInside
	if ob.Length > 0 {
		length = ob.Length + ob.Settle + time.Minute
	}
	pods := ob.client.CoreV1().Pods(pod.Namespace)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		now.Spec.EphemeralContainers = append(now.Spec.EphemeralContainers, corev1.EphemeralContainer{
			TargetContainerName: (&controller{pod: pod}).container().Name,
			EphemeralContainerCommon: corev1.EphemeralContainerCommon{
				Name: name, Image: ob.Ephemeral, ImagePullPolicy: corev1.PullIfNotPresent,
				Args: []string{InsideCommand, "--for=" + length.String()},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), RunAsNonRoot: new(true),
					Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			},
		})
		_, err = pods.UpdateEphemeralContainers(ctx, pod.Name, now, metav1.UpdateOptions{})
		return err
	})
}

func (ob *observation) awaitContainer(ctx context.Context, pod *corev1.Pod, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, insidePatience, fmt.Errorf("timed out after %v", insidePatience))
	defer cancel()
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	why := "it is waiting"
	for {
		now, err := ob.client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil {
			for _, status := range now.Status.EphemeralContainerStatuses {
				switch {
				case status.Name != name:
				case status.State.Running != nil:
					return nil
				case status.State.Terminated != nil:
					return fmt.Errorf("it ended with code %d: %s", status.State.Terminated.ExitCode, status.State.Terminated.Message)
				case status.State.Waiting != nil:
					why = status.State.Waiting.Reason + " " + status.State.Waiting.Message
				}
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), why)
		}
	}
}

// readInside logs the events that an ephemeral container prints. Its clock differs from ours. The
// offset is taken from the line with the shortest delay, so times may be late by that delay.
func (ob *observation) readInside(printed io.Reader, pod string, number int) error {
	lines := bufio.NewScanner(printed)
	lines.Buffer(nil, 1<<20)
	var behind time.Duration // how far the other clock is behind ours, at most
	for n := 0; lines.Scan(); n++ {
		var e event.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("the ephemeral container printed %.200q: use an image that contains windtunnel (--ephemeral)", lines.Text())
		}
		if offset := ob.log.Now() - e.At; n == 0 || offset < behind {
			behind = offset
		}
		e.At, e.Subject = e.At+behind, subjectName
		ob.writeInside(e, pod, number)
	}
	return lines.Err()
}

// writeInside logs an event of a pod, which has a number. PIDs of different pods may be equal, so
// the PIDs of each further pod are shifted by mostPIDs.
func (ob *observation) writeInside(e event.Event, pod string, number int) {
	shift := (number - 1) * mostPIDs
	switch {
	case e.Worker != nil:
		e.Worker.Pod = pod
		e.Worker.PID += shift
		e.Worker.Master += shift
		ob.controllers.inside.see(*e.Worker)
	case e.Usage != nil:
		for i := range e.Usage.ByGeneration {
			e.Usage.ByGeneration[i].Master += shift
		}
		if e.Usage = ob.controllers.inside.sum(number, *e.Usage); e.Usage == nil {
			return
		}
	}
	ob.log.Write(e)
}

// inside holds the latest reports of the pods with an ephemeral container, by their numbers.
type inside struct {
	mu      sync.Mutex
	next    int
	last    map[int]*event.Usage // nil for a pod that has not reported it yet
	workers map[int]event.Worker // that have not exited, by their PIDs
}

func (i *inside) add() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.next++
	if i.last == nil {
		i.last = map[int]*event.Usage{}
	}
	i.last[i.next] = nil
	return i.next
}

// see records the state of a worker.
func (i *inside) see(w event.Worker) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.workers == nil {
		i.workers = map[int]event.Worker{}
	}
	if i.workers[w.PID] = w; w.State == event.Exited {
		delete(i.workers, w.PID)
	}
}

// remove forgets a pod, and returns its workers that have not exited.
func (i *inside) remove(number int) (left []event.Worker) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.last, number)
	for _, pid := range slices.Sorted(maps.Keys(i.workers)) {
		if pid/mostPIDs == number-1 {
			left = append(left, i.workers[pid])
			delete(i.workers, pid)
		}
	}
	return left
}

// used reports whether there are such pods. Then the usage in the metrics is ignored, because the
// two count differently.
func (i *inside) used() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.last) > 0
}

// sum sets the usage of a pod, and returns the sum over all pods, or nil if the usage of a pod is
// not known yet.
func (i *inside) sum(number int, usage event.Usage) *event.Usage {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last[number] = &usage
	var sum event.Usage
	thorough := true
	for _, one := range i.last {
		if one == nil {
			return nil
		}
		add(&sum, *one)
		sum.ChildrenCPU += one.ChildrenCPU
		sum.NginxPSS += one.NginxPSS
		sum.NginxFiles += one.NginxFiles
		sum.ControllerFiles += one.ControllerFiles
		sum.Workers += one.Workers
		sum.Generations += one.Generations
		sum.ByGeneration = append(sum.ByGeneration, one.ByGeneration...)
		thorough = thorough && one.NginxPSS > 0
	}
	if !thorough { // a sum over some of the pods would be wrong
		sum.NginxPSS, sum.NginxFiles, sum.ControllerFiles = 0, 0, 0
	}
	return &sum
}
