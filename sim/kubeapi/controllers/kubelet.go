package controllers

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	listers "k8s.io/client-go/listers/core/v1"
)

// kubelet stands in for the kubelets of all nodes: it registers the nodes, starts the pods that are
// bound to a node, and ends deleted pods. It runs no processes.
type kubelet struct {
	*cluster
	queue *loop
	pods  listers.PodLister
	nodes listers.NodeLister

	mu       sync.Mutex
	stopping map[types.UID]*stopping
	started  map[types.UID]time.Time // see startOf
	renewing sync.WaitGroup
}

// stopping is a pod that was asked to stop.
type stopping struct {
	cancel context.CancelFunc
	over   bool // the pod has stopped
}

func newKubelet(c *cluster) (*loop, error) {
	if c.opts.Address == nil {
		c.opts.Address = countingAddresses()
	}
	k := &kubelet{cluster: c, pods: c.informers.Core().V1().Pods().Lister(), nodes: c.informers.Core().V1().Nodes().Lister(),
		stopping: map[types.UID]*stopping{}, started: map[types.UID]time.Time{}}
	l := newLoop(k.sync)
	c.watchPods(l, ownKey)
	l.start, l.stop = k.register, k.renewing.Wait
	k.queue = l
	return l, nil
}

func (k *kubelet) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	pod, err := k.pods.Pods(namespace).Get(name)
	if err != nil || pod.Spec.NodeName == "" {
		return ignoreNotFound(err)
	}
	switch {
	case pod.DeletionTimestamp != nil:
		return k.end(ctx, pod)
	case isOver(pod):
		return nil
	case isReady(pod):
		if ends(pod) {
			return k.finish(ctx, key, pod)
		}
		return nil
	case pod.Status.StartTime == nil:
		return k.begin(ctx, pod.DeepCopy())
	}
	if wait := time.Until(k.startOf(pod).Add(k.opts.ReadyAfter)); wait > 0 {
		k.queue.queue.AddAfter(key, wait)
		return nil
	}
	return k.writeReady(ctx, pod.DeepCopy())
}

// begin gives a pod its address. If ReadyAfter is zero, the same write also makes the pod ready.
func (k *kubelet) begin(ctx context.Context, pod *corev1.Pod) error {
	address, err := k.opts.Address(pod)
	if err != nil {
		return fmt.Errorf("an address for pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	if host := k.addressOfNode(pod.Spec.NodeName); host != "" {
		pod.Status.HostIP, pod.Status.HostIPs = host, []corev1.HostIP{{IP: host}}
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized} {
		setCondition(pod, kind, corev1.ConditionTrue, now)
	}
	if k.opts.ReadyAfter <= 0 {
		return k.writeReady(ctx, pod)
	}
	k.setReady(pod, false, now)
	k.startOf(pod)
	return k.write(ctx, pod)
}

func (k *kubelet) writeReady(ctx context.Context, pod *corev1.Pod) error {
	k.setReady(pod, true, metav1.Now())
	if err := k.write(ctx, pod); err != nil {
		return err
	}
	k.forgetStart(pod)
	return nil
}

func (k *kubelet) setReady(pod *corev1.Pod, ready bool, now metav1.Time) {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	setCondition(pod, corev1.ContainersReady, status, now)
	setCondition(pod, corev1.PodReady, status, now)
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image, Ready: ready, Started: &ready,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
}

func (k *kubelet) write(ctx context.Context, pod *corev1.Pod) error {
	_, err := k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

// end asks a deleted pod to stop, only once, and removes the pod when it has stopped.
func (k *kubelet) end(ctx context.Context, pod *corev1.Pod) error {
	if isOver(pod) && *pod.DeletionGracePeriodSeconds == 0 {
		return nil // others still have to remove their finalizers
	}
	k.mu.Lock()
	s := k.stopping[pod.UID]
	if s == nil {
		var stopped context.Context
		s = &stopping{}
		stopped, s.cancel = context.WithDeadline(ctx, pod.DeletionTimestamp.Time)
		k.stopping[pod.UID] = s
		go k.stop(stopped, s, pod)
	} else if left := time.Until(pod.DeletionTimestamp.Time); !s.over && left <= 0 {
		s.cancel() // a later deletion shortened the grace period
	} else if !s.over {
		k.queue.queue.AddAfter(keyOf(pod.Namespace, pod.Name), left)
	}
	over := s.over
	k.mu.Unlock()
	if !over {
		return nil
	}
	if len(pod.Finalizers) > 0 && !isOver(pod) {
		pod = pod.DeepCopy()
		terminate(pod, terminationCode)
		return k.write(ctx, pod) // its event leads to the removal
	}
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	if apierrors.IsConflict(err) {
		err = nil // the name now belongs to another pod
	}
	if err = ignoreNotFound(err); err == nil {
		k.mu.Lock()
		delete(k.stopping, pod.UID)
		delete(k.started, pod.UID)
		k.mu.Unlock()
	}
	return err
}

func (k *kubelet) stop(ctx context.Context, s *stopping, pod *corev1.Pod) {
	defer s.cancel()
	if k.opts.Stop != nil {
		k.opts.Stop(ctx, pod)
	} else {
		select {
		case <-time.After(k.opts.StopAfter):
		case <-ctx.Done():
		}
	}
	k.mu.Lock()
	s.over = true
	k.mu.Unlock()
	k.queue.queue.Add(keyOf(pod.Namespace, pod.Name))
}

// countingAddresses returns a function that hands out 10.244.0.1 and the addresses after it, and
// starts again at the end.
func countingAddresses() func(*corev1.Pod) (string, error) {
	var mu sync.Mutex
	next := netip.MustParseAddr("10.244.0.0")
	network := netip.MustParsePrefix("10.244.0.0/16")
	return func(*corev1.Pod) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if next = next.Next(); !network.Contains(next) {
			next = network.Addr().Next()
		}
		return next.String(), nil
	}
}
