package controllers

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// daemonNode is the state of one node's pods during a rolling update.
type daemonNode struct {
	name         string
	old, next    *corev1.Pod // of earlier revisions and of the current one; nil if there is none
	oldAvailable bool
	available    bool // next is available
	terminating  bool // at least one pod is terminating
}

// roll replaces the pods of earlier revisions: all unavailable ones, and others as long as
// maxUnavailable allows. With a surge, new pods become available before the old ones are deleted.
func (d *daemonSet) roll(ctx context.Context, s *daemons) error {
	if s.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return nil
	}
	surge, unavailable := s.limits()
	var nodes []daemonNode
	for _, name := range s.nodes {
		nodes = append(nodes, d.inspect(s, name))
	}
	if surge > 0 {
		return d.rollWithSurge(ctx, s, nodes, surge)
	}
	for _, n := range nodes {
		if !n.available && !n.oldAvailable {
			unavailable--
		}
	}
	for _, n := range nodes {
		if n.old == nil || n.oldAvailable && unavailable <= 0 {
			continue
		}
		if n.oldAvailable {
			unavailable--
		}
		if err := d.deletePod(ctx, s.DaemonSet, n.old); err != nil {
			return err
		}
	}
	return nil
}

func (d *daemonSet) rollWithSurge(ctx context.Context, s *daemons, nodes []daemonNode, surge int) error {
	for _, n := range nodes {
		if n.old != nil && n.next != nil {
			surge--
		}
	}
	for _, n := range nodes {
		var err error
		switch {
		case n.old == nil || n.terminating:
		case n.available:
			err = d.deletePod(ctx, s.DaemonSet, n.old)
		case n.next == nil && (surge > 0 || !n.oldAvailable):
			surge--
			err = d.surge(ctx, s, n.name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// surge creates a pod beside the old one, unless the cache does not show yet that it exists.
func (d *daemonSet) surge(ctx context.Context, s *daemons, node string) error {
	live, err := d.livePods(ctx, s.DaemonSet, s.selector)
	if err != nil {
		return err
	}
	for _, pod := range live {
		if targetNode(pod) == node && s.isCurrent(pod) {
			return nil
		}
	}
	return d.createPod(ctx, s.DaemonSet, s.newPod(node))
}

// limits returns how many pods may exist beside old ones, and how many may be unavailable.
func (s *daemons) limits() (surge, unavailable int) {
	rolling := s.Spec.UpdateStrategy.RollingUpdate
	if rolling == nil {
		return 0, 1
	}
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	if rolling.MaxSurge == nil {
		rolling.MaxSurge = &none
	}
	if rolling.MaxUnavailable == nil {
		rolling.MaxUnavailable = &one
	}
	surge, _ = intstr.GetScaledValueFromIntOrPercent(rolling.MaxSurge, len(s.nodes), true) // zero if the value is not a number
	unavailable, _ = intstr.GetScaledValueFromIntOrPercent(rolling.MaxUnavailable, len(s.nodes), true)
	if surge == 0 && unavailable == 0 {
		unavailable = 1 // the update could not proceed otherwise
	}
	return surge, unavailable
}

func (d *daemonSet) inspect(s *daemons, node string) daemonNode {
	n := daemonNode{name: node}
	for _, pod := range s.byNode[node] {
		switch {
		case pod.DeletionTimestamp != nil:
			n.terminating = true
		case s.isCurrent(pod):
			n.next, n.available = pod, d.isAvailable(s, pod)
		default:
			n.old, n.oldAvailable = pod, d.isAvailable(s, pod)
		}
	}
	return n
}

// isAvailable reports whether a pod has been ready for minReadySeconds. If it has not been ready for
// that long, isAvailable queues the set for the time when it will have been.
func (d *daemonSet) isAvailable(s *daemons, pod *corev1.Pod) bool {
	wait, ready := availableIn(pod, time.Duration(s.Spec.MinReadySeconds)*time.Second, time.Now())
	if ready && wait > 0 {
		d.queue.queue.AddAfter(keyOf(s.Namespace, s.Name), wait)
	}
	return ready && wait <= 0
}

// writeStatus writes the counts that kubectl rollout status reads. They count nodes, not pods.
func (d *daemonSet) writeStatus(ctx context.Context, s *daemons) error {
	status := appsv1.DaemonSetStatus{ObservedGeneration: s.Generation, DesiredNumberScheduled: int32(len(s.nodes)),
		CollisionCount: s.Status.CollisionCount, Conditions: s.Status.Conditions}
	scheduled := 0
	for _, node := range s.nodes {
		n := d.inspect(s, node)
		if len(s.byNode[node]) > 0 {
			scheduled++
			status.CurrentNumberScheduled++
		}
		if isReadyPod(n.old) || isReadyPod(n.next) {
			status.NumberReady++
		}
		if n.available || n.oldAvailable {
			status.NumberAvailable++
		}
		if n.next != nil {
			status.UpdatedNumberScheduled++
		}
	}
	status.NumberMisscheduled = int32(len(s.byNode) - scheduled)
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	if apiequality.Semantic.DeepEqual(status, s.Status) {
		return nil
	}
	s.Status = status
	_, err := d.client.AppsV1().DaemonSets(s.Namespace).UpdateStatus(ctx, s.DaemonSet, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

func isReadyPod(pod *corev1.Pod) bool { return pod != nil && isReady(pod) }
