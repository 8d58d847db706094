package cluster

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What becomes of an object's dependents is the garbage collector's affair. The
// server only gives the object the finalizer by which it says what is wanted, and
// keeps it until the collector has taken that away.

// setPropagation gives an object about to be deleted the finalizers of its propagation
// policy and takes those of another from it. Without a policy what it has remains.
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
