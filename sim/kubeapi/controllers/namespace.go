package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

// namespacePollInterval is the interval between two checks of a terminating namespace that is not
// empty yet.
const namespacePollInterval = 100 * time.Millisecond

// namespace deletes the contents of deleted namespaces and then removes their finalizer.
type namespace struct {
	*cluster
	queue      *loop
	namespaces listers.NamespaceLister
}

func newNamespace(c *cluster) (*loop, error) {
	n := &namespace{cluster: c, namespaces: c.informers.Core().V1().Namespaces().Lister()}
	l := newLoop(n.sync)
	l.watch(c.informers.Core().V1().Namespaces().Informer(), ownKey)
	n.queue = l
	return l, nil
}

func (n *namespace) sync(ctx context.Context, name string) error {
	ns, err := n.namespaces.Get(name)
	if err != nil || ns.DeletionTimestamp == nil || !slices.Contains(ns.Spec.Finalizers, corev1.FinalizerKubernetes) {
		return ignoreNotFound(err)
	}
	left, err := n.empty(ctx, name)
	if err != nil {
		return err
	}
	if left > 0 {
		n.queue.queue.AddAfter(name, namespacePollInterval)
		return nil
	}
	ns = ns.DeepCopy()
	ns.Spec.Finalizers = slices.DeleteFunc(ns.Spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
	_, err = n.client.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

// empty deletes all objects in a namespace, and returns the number of those that are left.
func (n *namespace) empty(ctx context.Context, name string) (left int, err error) {
	resources, err := n.resources()
	if err != nil {
		return 0, err
	}
	for _, r := range resources {
		if !r.namespaced {
			continue
		}
		objects := n.metadata.Resource(r.GroupVersionResource).Namespace(name)
		background := metav1.DeletePropagationBackground
		if err := objects.DeleteCollection(ctx, metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{}); err != nil {
			return 0, fmt.Errorf("deleting the %s of namespace %s: %w", r.Resource, name, err)
		}
		list, err := objects.List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, fmt.Errorf("listing the %s of namespace %s: %w", r.Resource, name, err)
		}
		left += len(list.Items)
	}
	return left, nil
}
