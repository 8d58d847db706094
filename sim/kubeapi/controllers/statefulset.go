package controllers

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appslisters "k8s.io/client-go/listers/apps/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/ptr"
)

var statefulSetKind = appsv1.SchemeGroupVersion.WithKind("StatefulSet")

// statefulSet keeps the numbered pods of StatefulSets. It decides from the caches: pods have fixed
// names, so creating a pod that the cache does not show yet fails, and is tried again.
type statefulSet struct {
	history
	queue *loop
	sets  appslisters.StatefulSetLister
	pods  listers.PodLister
}

func newStatefulSet(c *cluster) (*loop, error) {
	apps := c.informers.Apps().V1()
	s := &statefulSet{history: history{c, apps.ControllerRevisions().Lister()}, sets: apps.StatefulSets().Lister(), pods: c.informers.Core().V1().Pods().Lister()}
	l := newLoop(s.sync)
	l.watch(apps.StatefulSets().Informer(), ownKey)
	l.watch(apps.ControllerRevisions().Informer(), controllerKey("StatefulSet"))
	c.watchPods(l, controllerKey("StatefulSet"))
	s.queue = l
	return l, nil
}

// replicas is the state of one sync: a copy of the StatefulSet, which may be changed, and its pods.
type replicas struct {
	*appsv1.StatefulSet
	current, update *appsv1.ControllerRevision
	pods            []*corev1.Pod // the wanted pods in the order of their ordinals; nil for a missing one
	surplus         []*corev1.Pod // pods with other ordinals, highest first
}

func (s *statefulSet) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	cached, err := s.sets.StatefulSets(namespace).Get(name)
	if err != nil {
		return ignoreNotFound(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(cached.Spec.Selector)
	if err != nil {
		return nil //nolint:nilerr // a user's mistake, so a retry does not help
	}
	r := &replicas{StatefulSet: cached.DeepCopy()}
	if err := s.find(r, selector); err != nil {
		return err
	}
	if r.DeletionTimestamp != nil {
		return nil
	}
	t := templated{r.StatefulSet, statefulSetKind, &r.Spec.Template, r.Spec.RevisionHistoryLimit}
	var old []*appsv1.ControllerRevision
	if r.update, old, err = s.ensure(ctx, t); err != nil {
		return err
	}
	r.current = r.update
	for _, revision := range old {
		if revision.Name == r.Status.CurrentRevision {
			r.current = revision
		}
	}
	err = s.advance(ctx, r)
	if statusErr := s.writeStatus(ctx, r); err == nil {
		err = statusErr
	}
	if err != nil {
		return err
	}
	return s.prune(ctx, t, old, func(revision *appsv1.ControllerRevision) bool { return r.uses(revision.Name) })
}

// find sorts the pods of a set into wanted and surplus ones.
func (s *statefulSet) find(r *replicas, selector labels.Selector) error {
	all, err := s.pods.Pods(r.Namespace).List(selector)
	if err != nil {
		return err
	}
	r.pods = make([]*corev1.Pod, ptr.Deref(r.Spec.Replicas, 1))
	for _, pod := range controlledBy(r.StatefulSet, all) {
		i := ordinalOf(r.StatefulSet, pod)
		if i -= r.first(); i >= 0 && i < len(r.pods) {
			r.pods[i] = pod
		} else {
			r.surplus = append(r.surplus, pod)
		}
	}
	sortByOrdinal(r.StatefulSet, r.surplus)
	return nil
}

// advance makes the next steps towards the wanted pods: missing pods are created, surplus ones
// deleted, and then pods of other revisions are replaced. With the policy OrderedReady each pod
// waits for those before it.
func (s *statefulSet) advance(ctx context.Context, r *replicas) error {
	if settled, err := s.fill(ctx, r); err != nil || !settled {
		return err
	}
	for _, pod := range r.surplus {
		if pod.DeletionTimestamp == nil {
			if err := s.deletePod(ctx, r.StatefulSet, pod); err != nil {
				return err
			}
		}
		if r.ordered() {
			return nil // the next one follows when this one is gone
		}
	}
	if r.Spec.UpdateStrategy.Type == appsv1.OnDeleteStatefulSetStrategyType {
		return nil
	}
	return s.replace(ctx, r)
}

// fill creates missing pods and replaces ended ones. It reports whether the other steps may follow.
func (s *statefulSet) fill(ctx context.Context, r *replicas) (settled bool, err error) {
	for i, pod := range r.pods {
		switch {
		case pod == nil:
			err = s.create(ctx, r, i)
		case isOver(pod) && pod.DeletionTimestamp == nil:
			err = s.deletePod(ctx, r.StatefulSet, pod)
		case s.serves(r, pod):
			continue
		}
		if err != nil || r.ordered() {
			return false, err
		}
	}
	return true, nil
}

// replace deletes the highest pod of another revision, if all pods above it serve. The next sync
// creates it again from the new template.
func (s *statefulSet) replace(ctx context.Context, r *replicas) error {
	for i := len(r.pods) - 1; i >= r.partition(); i-- {
		pod := r.pods[i]
		if pod == nil || pod.DeletionTimestamp != nil {
			return nil
		}
		if revisionNameOf(pod) != r.update.Name {
			return s.deletePod(ctx, r.StatefulSet, pod)
		}
		if !s.serves(r, pod) {
			return nil
		}
	}
	return nil
}

// serves reports whether a pod is active and has been ready for minReadySeconds. If it has not been
// ready for that long, serves queues the set for the time when it will have been.
func (s *statefulSet) serves(r *replicas, pod *corev1.Pod) bool {
	wait, ready := availableIn(pod, time.Duration(r.Spec.MinReadySeconds)*time.Second, time.Now())
	if !ready || !isActive(pod) {
		return false
	}
	if wait > 0 {
		s.queue.queue.AddAfter(keyOf(r.Namespace, r.Name), wait)
	}
	return wait <= 0
}

func (r *replicas) ordered() bool {
	return r.Spec.PodManagementPolicy != appsv1.ParallelPodManagement
}

// first returns the lowest ordinal.
func (r *replicas) first() int {
	return int(ptr.Deref(r.Spec.Ordinals, appsv1.StatefulSetOrdinals{}).Start)
}

// partition returns how many pods, from the first ordinal on, a rolling update does not replace.
func (r *replicas) partition() int {
	return int(ptr.Deref(ptr.Deref(r.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{}).Partition, 0))
}

// uses reports whether a pod or the status refers to a revision.
func (r *replicas) uses(revision string) bool {
	if revision == r.current.Name || revision == r.update.Name {
		return true
	}
	for _, pod := range r.every() {
		if revisionNameOf(pod) == revision {
			return true
		}
	}
	return false
}

// every returns all pods that exist.
func (r *replicas) every() []*corev1.Pod {
	var all []*corev1.Pod
	for _, pod := range r.pods {
		if pod != nil {
			all = append(all, pod)
		}
	}
	return append(all, r.surplus...)
}

func revisionNameOf(pod *corev1.Pod) string { return pod.Labels[appsv1.ControllerRevisionHashLabelKey] }
