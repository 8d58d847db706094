package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// graceOf returns the grace period of a deleted pod in seconds: that of the request, else that of
// the pod. It is 0 for a pod without a node.
func graceOf(pod *corev1.Pod, asked *int64) int64 {
	phase := pod.Status.Phase
	switch {
	case pod.Spec.NodeName == "" || phase == corev1.PodSucceeded || phase == corev1.PodFailed:
		return 0
	case asked != nil && *asked < 0:
		return 1
	case asked != nil:
		return *asked
	case pod.DeletionGracePeriodSeconds != nil:
		return *pod.DeletionGracePeriodSeconds // a second deletion without a grace period changes nothing
	case pod.Spec.TerminationGracePeriodSeconds != nil:
		return *pod.Spec.TerminationGracePeriodSeconds
	}
	return corev1.DefaultTerminationGracePeriodSeconds
}

// markDeleted sets the deletion timestamp, counted from the first deletion.
func markDeleted(m *metav1.ObjectMeta, grace int64) {
	started := time.Now().Truncate(time.Second)
	if m.DeletionTimestamp != nil {
		started = m.DeletionTimestamp.Add(-time.Duration(*m.DeletionGracePeriodSeconds) * time.Second)
	} else if m.Generation > 0 {
		m.Generation++
	}
	end := metav1.NewTime(started.Add(time.Duration(grace) * time.Second))
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = &end, &grace
}

// terminate sets the grace period of base, which was decoded as last, to 0 and returns the removal.
// The change is an event of its own.
func terminate(c *store.Collection, base *store.Object, last runtime.Object) (store.Transition, error) {
	if m := object.Meta(last); !base.Deleting || *m.DeletionGracePeriodSeconds > 0 {
		markDeleted(m, 0)
		marked, err := c.Write(watch.Modified, base, last)
		if err != nil {
			return store.Transition{}, err
		}
		base = marked
	}
	return store.Removal(base), nil
}

// isRemovable reports whether nothing holds a deleted object any more. base is the stored object,
// next its next state.
func (s *State) isRemovable(base *store.Object, next runtime.Object) bool {
	m := object.Meta(next)
	if len(m.Finalizers) > 0 || (m.DeletionGracePeriodSeconds != nil && *m.DeletionGracePeriodSeconds > 0) {
		return false
	}
	if ns, ok := next.(*corev1.Namespace); ok {
		return s.isNamespaceEmpty(base.Name) && !(s.namespaceController && len(ns.Spec.Finalizers) > 0)
	}
	return true
}

// withFinalizers returns old with the spec.finalizers of next: the finalize subresource of a
// namespace changes nothing else.
func withFinalizers(old, next runtime.Object) runtime.Object {
	merged := old.DeepCopyObject().(*corev1.Namespace)
	merged.Spec.Finalizers = next.(*corev1.Namespace).Spec.Finalizers
	return merged
}
