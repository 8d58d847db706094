package controllers

import (
	"cmp"
	"context"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appslisters "k8s.io/client-go/listers/apps/v1"
	listers "k8s.io/client-go/listers/core/v1"
)

// deployment moves a Deployment's pods from old ReplicaSets to the ReplicaSet of the current
// template. It decides from the caches: a write that is based on a stale object fails with a
// conflict.
type deployment struct {
	*cluster
	queue       *loop
	deployments appslisters.DeploymentLister
	sets        appslisters.ReplicaSetLister
	pods        listers.PodLister
}

func newDeployment(c *cluster) (*loop, error) {
	apps := c.informers.Apps().V1()
	d := &deployment{cluster: c, deployments: apps.Deployments().Lister(), sets: apps.ReplicaSets().Lister(), pods: c.informers.Core().V1().Pods().Lister()}
	l := newLoop(d.sync)
	l.watch(apps.Deployments().Informer(), ownKey)
	l.watch(apps.ReplicaSets().Informer(), controllerKey("Deployment"))
	c.watchPods(l, d.waitingFor)
	d.queue = l
	return l, nil
}

// waitingFor returns the key of the Deployment that may wait for the end of a terminating pod.
func (d *deployment) waitingFor(pod metav1.Object) []string {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || pod.GetDeletionTimestamp() == nil {
		return nil
	}
	rs, err := d.sets.ReplicaSets(pod.GetNamespace()).Get(owner.Name)
	if err != nil {
		return nil
	}
	return controllerKey("Deployment")(rs)
}

// rollout is a Deployment with its ReplicaSets. All are copies that may be changed.
type rollout struct {
	*appsv1.Deployment
	next *appsv1.ReplicaSet   // the ReplicaSet of the current template; nil until it is created
	old  []*appsv1.ReplicaSet // the others, oldest first
}

func (d *deployment) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	cached, err := d.deployments.Deployments(namespace).Get(name)
	if err != nil {
		return ignoreNotFound(err)
	}
	r := rollout{Deployment: cached.DeepCopy()}
	if err := d.find(&r); err != nil {
		return err
	}
	if r.DeletionTimestamp == nil {
		if err := d.advance(ctx, &r); err != nil {
			return err
		}
	}
	return d.writeStatus(ctx, &r)
}

// find sets r.next to the ReplicaSet of the current template and r.old to the others.
func (d *deployment) find(r *rollout) error {
	sets, err := d.sets.ReplicaSets(r.Namespace).List(labels.Everything())
	if err != nil {
		return err
	}
	sets = slices.DeleteFunc(sets, func(rs *appsv1.ReplicaSet) bool { return !metav1.IsControlledBy(rs, r.Deployment) })
	slices.SortFunc(sets, func(a, b *appsv1.ReplicaSet) int {
		return cmp.Or(cmp.Compare(revisionOf(a), revisionOf(b)), cmp.Compare(a.Name, b.Name))
	})
	for _, rs := range sets {
		rs = rs.DeepCopy()
		if r.next == nil && sameTemplate(&rs.Spec.Template, &r.Spec.Template) {
			r.next = rs
		} else {
			r.old = append(r.old, rs)
		}
	}
	return nil
}

// advance makes the next step of a rollout.
func (d *deployment) advance(ctx context.Context, r *rollout) error {
	if r.Spec.Paused {
		return d.scalePaused(ctx, r)
	}
	step := d.roll
	if r.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		step = d.recreate
	}
	if err := step(ctx, r); err != nil {
		return err
	}
	return d.deleteOldReplicaSets(ctx, r)
}

func (d *deployment) recreate(ctx context.Context, r *rollout) error {
	if err := d.empty(ctx, r); err != nil {
		return err
	}
	if wait, err := d.oldPodsRun(r); err != nil || wait {
		return err // a later sync continues when their pods are gone
	}
	if err := d.ensureNext(ctx, r); err != nil {
		return err
	}
	return d.scale(ctx, r, r.next, *r.Spec.Replicas)
}

// oldPodsRun reports whether old ReplicaSets have pods that have not ended. The ReplicaSets' status
// counts no terminating pods.
func (d *deployment) oldPodsRun(r *rollout) (bool, error) {
	if podsOf(r.old) > 0 {
		return true, nil
	}
	pods, err := d.pods.Pods(r.Namespace).List(labels.Everything())
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		return !isOver(pod) && slices.ContainsFunc(r.old, func(rs *appsv1.ReplicaSet) bool { return metav1.IsControlledBy(pod, rs) })
	}), err
}

func (d *deployment) empty(ctx context.Context, r *rollout) error {
	for _, rs := range r.old {
		if err := d.scale(ctx, r, rs, 0); err != nil {
			return err
		}
	}
	return nil
}

// scalePaused scales the ReplicaSet that has replicas or, if none has, the newest one. If several
// have replicas, it changes nothing.
func (d *deployment) scalePaused(ctx context.Context, r *rollout) error {
	active := slices.DeleteFunc(r.all(), func(rs *appsv1.ReplicaSet) bool { return *rs.Spec.Replicas == 0 })
	if all := r.all(); len(active) == 0 && len(all) > 0 {
		active = all[len(all)-1:]
	}
	if len(active) != 1 {
		return nil
	}
	return d.scale(ctx, r, active[0], *r.Spec.Replicas)
}

// scale sets the replicas of a ReplicaSet and records an event for the Deployment.
func (d *deployment) scale(ctx context.Context, r *rollout, rs *appsv1.ReplicaSet, replicas int32) error {
	changed := *rs.Spec.Replicas != replicas
	if setDesiredReplicas(rs, r.Deployment); !changed {
		return nil
	}
	was, direction := *rs.Spec.Replicas, "up"
	if replicas < was {
		direction = "down"
	}
	*rs.Spec.Replicas = replicas
	written, err := d.client.AppsV1().ReplicaSets(rs.Namespace).Update(ctx, rs, metav1.UpdateOptions{})
	if err == nil {
		*rs = *written
		d.events.Eventf(r.Deployment, corev1.EventTypeNormal, "ScalingReplicaSet", "Scaled %s replica set %s from %d to %d", direction, rs.Name, was, replicas)
	}
	return err
}

// deleteOldReplicaSets deletes old ReplicaSets beyond the history limit, once the rollout is
// complete.
func (d *deployment) deleteOldReplicaSets(ctx context.Context, r *rollout) error {
	if !r.complete() {
		return nil
	}
	for _, rs := range r.old[:max(0, len(r.old)-int(*r.Spec.RevisionHistoryLimit))] {
		if *rs.Spec.Replicas > 0 || rs.Status.Replicas > 0 || rs.DeletionTimestamp != nil {
			continue
		}
		if err := ignoreNotFound(d.client.AppsV1().ReplicaSets(rs.Namespace).Delete(ctx, rs.Name, metav1.DeleteOptions{})); err != nil {
			return err
		}
	}
	return nil
}

func (r *rollout) all() []*appsv1.ReplicaSet {
	all := slices.Clone(r.old)
	if r.next != nil {
		all = append(all, r.next)
	}
	return all
}

// complete reports whether all pods have the current template and are available.
func (r *rollout) complete() bool {
	return r.next != nil && podsOf(r.old) == 0 && wantedOf(r.old) == 0 &&
		r.next.Status.Replicas == *r.Spec.Replicas && r.next.Status.AvailableReplicas == *r.Spec.Replicas
}

func podsOf(sets []*appsv1.ReplicaSet) (n int32) {
	for _, rs := range sets {
		n += rs.Status.Replicas
	}
	return n
}

func wantedOf(sets []*appsv1.ReplicaSet) (n int32) {
	for _, rs := range sets {
		n += *rs.Spec.Replicas
	}
	return n
}

// available returns the number of available pods that a ReplicaSet keeps. After a scale-down its
// status may still count pods that it is about to delete.
func available(rs *appsv1.ReplicaSet) int32 {
	return min(rs.Status.AvailableReplicas, *rs.Spec.Replicas)
}

func (d *deployment) after(r *rollout, wait time.Duration) {
	d.queue.queue.AddAfter(keyOf(r.Namespace, r.Name), wait)
}
