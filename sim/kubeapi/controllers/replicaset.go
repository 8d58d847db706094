package controllers

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appslisters "k8s.io/client-go/listers/apps/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

// replicaSet keeps the wanted number of pods for each ReplicaSet. It does not adopt pods that it
// did not create.
type replicaSet struct {
	*cluster
	queue *loop
	sets  appslisters.ReplicaSetLister
	pods  listers.PodLister
}

func newReplicaSet(c *cluster) (*loop, error) {
	r := &replicaSet{cluster: c, sets: c.informers.Apps().V1().ReplicaSets().Lister(), pods: c.informers.Core().V1().Pods().Lister()}
	l := newLoop(r.sync)
	l.watch(c.informers.Apps().V1().ReplicaSets().Informer(), ownKey)
	c.watchPods(l, controllerKey("ReplicaSet"))
	r.queue = l
	return l, nil
}

func (r *replicaSet) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	rs, err := r.sets.ReplicaSets(namespace).Get(name)
	if err != nil {
		return ignoreNotFound(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(rs.Spec.Selector)
	if err != nil {
		return nil //nolint:nilerr // a user's mistake, so a retry does not help
	}
	pods, err := r.pods.Pods(namespace).List(selector)
	if err != nil {
		return err
	}
	pods = activeOf(controlledBy(rs, pods))
	if rs.DeletionTimestamp == nil {
		err = r.adjust(ctx, rs, selector, len(pods))
	}
	if statusErr := r.writeStatus(ctx, rs, pods); err == nil {
		err = statusErr
	}
	return err
}

// adjust creates and deletes pods. The cache may not show the changes of an earlier sync yet, so
// adjust asks the API server if pods seem to be missing.
func (r *replicaSet) adjust(ctx context.Context, rs *appsv1.ReplicaSet, selector labels.Selector, seen int) error {
	wanted := int(*rs.Spec.Replicas)
	if seen == wanted {
		return nil
	}
	there, err := r.livePods(ctx, rs, selector)
	if err != nil {
		return err
	}
	there = activeOf(there)
	if missing := wanted - len(there); missing > 0 {
		return inParallel(missing, func(int) error {
			return r.createPod(ctx, rs, podOf(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), &rs.Spec.Template))
		})
	}
	slices.SortFunc(there, deletionOrder)
	return inParallel(len(there)-wanted, func(i int) error { return r.deletePod(ctx, rs, there[i]) })
}

// deletionOrder compares pods in the order of their deletion: first pods without a node, then pods
// that are not ready, then the youngest.
func deletionOrder(a, b *corev1.Pod) int {
	return cmp.Or(
		boolOrder(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		boolOrder(isReady(a), isReady(b)),
		b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
		cmp.Compare(a.Name, b.Name))
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// inParallel calls f for 0 to n-1, several calls at a time, and returns the first error.
func inParallel(n int, f func(i int) error) error {
	var wait sync.WaitGroup
	var once sync.Once
	var first error
	slots := make(chan struct{}, 8)
	for i := range max(n, 0) {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := f(i); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	wait.Wait()
	return first
}

func (r *replicaSet) writeStatus(ctx context.Context, rs *appsv1.ReplicaSet, pods []*corev1.Pod) error {
	status := appsv1.ReplicaSetStatus{Replicas: int32(len(pods)), ObservedGeneration: rs.Generation, Conditions: rs.Status.Conditions}
	template, now := labels.SelectorFromSet(rs.Spec.Template.Labels), time.Now()
	minReady := time.Duration(rs.Spec.MinReadySeconds) * time.Second
	for _, pod := range pods {
		if template.Matches(labels.Set(pod.Labels)) {
			status.FullyLabeledReplicas++
		}
		wait, ready := availableIn(pod, minReady, now)
		if !ready {
			continue
		}
		status.ReadyReplicas++
		if wait <= 0 {
			status.AvailableReplicas++
		} else {
			r.queue.queue.AddAfter(keyOf(rs.Namespace, rs.Name), wait)
		}
	}
	if apiequality.Semantic.DeepEqual(status, rs.Status) {
		return nil
	}
	rs = rs.DeepCopy()
	rs.Status = status
	_, err := r.client.AppsV1().ReplicaSets(rs.Namespace).UpdateStatus(ctx, rs, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}
