package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The garbage collector decides what happens to the dependents of an object. The server only gives
// the object the finalizer of the requested policy, and keeps the object until the collector has
// removed that finalizer.

// setPropagation sets the finalizers of an object that is about to be deleted according to its
// propagation policy. Without a policy the object keeps its finalizers.
func setPropagation(m *metav1.ObjectMeta, opts *metav1.DeleteOptions) {
	orphan := slices.Contains(m.Finalizers, metav1.FinalizerOrphanDependents)
	foreground := slices.Contains(m.Finalizers, metav1.FinalizerDeleteDependents) && !orphan
	switch {
	case opts.OrphanDependents != nil:
		orphan, foreground = *opts.OrphanDependents, false
	case opts.PropagationPolicy != nil:
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	}
	setFinalizer(m, metav1.FinalizerOrphanDependents, orphan)
	setFinalizer(m, metav1.FinalizerDeleteDependents, foreground)
}

func setFinalizer(m *metav1.ObjectMeta, name string, wanted bool) {
	if wanted == slices.Contains(m.Finalizers, name) {
		return
	}
	if wanted {
		m.Finalizers = append(m.Finalizers, name)
		return
	}
	m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == name })
}
