package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	appslisters "k8s.io/client-go/listers/apps/v1"
	listers "k8s.io/client-go/listers/core/v1"
	policylisters "k8s.io/client-go/listers/policy/v1"
	"k8s.io/utils/ptr"
)

// evictionTimeout is how long an evicted pod counts as disrupted before its deletion is seen.
const evictionTimeout = 2 * time.Minute

// disruption maintains the status of PodDisruptionBudgets, from which the API server decides
// whether a pod may be evicted.
type disruption struct {
	*cluster
	queue       *loop
	budgets     policylisters.PodDisruptionBudgetLister
	pods        listers.PodLister
	deployments appslisters.DeploymentLister
	replicaSets appslisters.ReplicaSetLister
	sets        appslisters.StatefulSetLister
}

func newDisruption(c *cluster) (*loop, error) {
	apps, budgets := c.informers.Apps().V1(), c.informers.Policy().V1().PodDisruptionBudgets()
	d := &disruption{cluster: c, budgets: budgets.Lister(), pods: c.informers.Core().V1().Pods().Lister(),
		deployments: apps.Deployments().Lister(), replicaSets: apps.ReplicaSets().Lister(), sets: apps.StatefulSets().Lister()}
	l := newLoop(d.sync)
	l.watch(budgets.Informer(), ownKey)
	c.watchPods(l, d.budgetsOf)
	inNamespace := func(obj metav1.Object) []string { // because the number of wanted pods may have changed
		return d.keys(obj.GetNamespace(), func(*policyv1.PodDisruptionBudget) bool { return true })
	}
	l.watch(apps.Deployments().Informer(), inNamespace)
	l.watch(apps.ReplicaSets().Informer(), inNamespace)
	l.watch(apps.StatefulSets().Informer(), inNamespace)
	d.queue = l
	return l, nil
}

func (d *disruption) keys(namespace string, of func(*policyv1.PodDisruptionBudget) bool) []string {
	budgets, _ := d.budgets.PodDisruptionBudgets(namespace).List(labels.Everything()) // never fails: it is a cache
	var keys []string
	for _, b := range budgets {
		if of(b) {
			keys = append(keys, keyOf(b.Namespace, b.Name))
		}
	}
	return keys
}

// budgetsOf returns the keys of the budgets that select a pod.
func (d *disruption) budgetsOf(pod metav1.Object) []string {
	return d.keys(pod.GetNamespace(), func(b *policyv1.PodDisruptionBudget) bool {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		return err == nil && selector.Matches(labels.Set(pod.GetLabels()))
	})
}

func (d *disruption) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	cached, err := d.budgets.PodDisruptionBudgets(namespace).Get(name)
	if err != nil || cached.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	selector, err := metav1.LabelSelectorAsSelector(cached.Spec.Selector)
	if err != nil {
		return nil //nolint:nilerr // a user's mistake, so a retry does not help
	}
	pods, err := d.pods.Pods(namespace).List(selector)
	if err != nil {
		return err
	}
	b := cached.DeepCopy()
	if expected, desired, err := d.limits(b, pods); err == nil {
		d.count(b, pods, expected, desired)
	} else {
		b.Status.DisruptionsAllowed, b.Status.ObservedGeneration = 0, b.Generation
		setDisruptionAllowed(b, metav1.ConditionFalse, policyv1.SyncFailedReason, err.Error())
	}
	if apiequality.Semantic.DeepEqual(b.Status, cached.Status) {
		return nil
	}
	_, err = d.client.PolicyV1().PodDisruptionBudgets(namespace).UpdateStatus(ctx, b, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

// count sets the status of a budget: expected is the number of pods that should exist, desired the
// number of those that must be healthy.
func (d *disruption) count(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod, expected, desired int) {
	now := time.Now()
	disrupted := map[string]metav1.Time{}
	healthy := 0
	for _, pod := range pods {
		at, evicted := b.Status.DisruptedPods[pod.Name]
		wait := at.Add(evictionTimeout).Sub(now)
		switch {
		case pod.DeletionTimestamp != nil:
		case evicted && wait > 0:
			disrupted[pod.Name] = at
			d.queue.queue.AddAfter(keyOf(b.Namespace, b.Name), wait)
		case isReady(pod):
			healthy++
		}
	}
	allowed := max(0, healthy-desired)
	if expected <= 0 {
		allowed = 0
	}
	b.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: b.Generation, DisruptedPods: disrupted, DisruptionsAllowed: int32(allowed),
		CurrentHealthy: int32(healthy), DesiredHealthy: int32(desired), ExpectedPods: int32(expected), Conditions: b.Status.Conditions}
	if allowed > 0 {
		setDisruptionAllowed(b, metav1.ConditionTrue, policyv1.SufficientPodsReason, "")
	} else {
		setDisruptionAllowed(b, metav1.ConditionFalse, policyv1.InsufficientPodsReason, "")
	}
}

func setDisruptionAllowed(b *policyv1.PodDisruptionBudget, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: status,
		ObservedGeneration: b.Generation, Reason: reason, Message: message})
}

// limits returns how many pods a budget expects, and how many of them must be healthy. If minAvailable
// is a number, the budget expects the existing pods; otherwise those that their owners want.
func (d *disruption) limits(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod) (expected, desired int, err error) {
	switch low, high := b.Spec.MinAvailable, b.Spec.MaxUnavailable; {
	case low != nil && low.Type == intstr.Int:
		return len(pods), low.IntValue(), nil
	case low != nil:
		if expected, err = d.wanted(pods); err == nil {
			desired, err = intstr.GetScaledValueFromIntOrPercent(low, expected, true)
		}
	case high != nil:
		var unavailable int
		if expected, err = d.wanted(pods); err == nil {
			unavailable, err = intstr.GetScaledValueFromIntOrPercent(high, expected, true)
		}
		desired = max(0, expected-unavailable)
	}
	return expected, desired, err
}

// wanted returns the number of pods that the owners of these pods want. Pods without an owner do
// not count.
func (d *disruption) wanted(pods []*corev1.Pod) (total int, err error) {
	seen := map[string]bool{}
	for _, pod := range pods {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil {
			continue
		}
		id, replicas, err := d.replicasOf(pod.Namespace, owner)
		if err != nil {
			return 0, err
		}
		if !seen[id] {
			seen[id] = true
			total += int(replicas)
		}
	}
	return total, nil
}

// replicasOf returns the UID and the wanted replicas of the object that scales an owner's pods.
func (d *disruption) replicasOf(namespace string, owner *metav1.OwnerReference) (uid string, replicas int32, err error) {
	switch owner.Kind {
	case "ReplicaSet":
		rs, err := d.replicaSets.ReplicaSets(namespace).Get(owner.Name)
		if err != nil {
			return "", 0, ignoreNotFound(err)
		}
		if of := metav1.GetControllerOfNoCopy(rs); of != nil && of.Kind == "Deployment" {
			deployment, err := d.deployments.Deployments(namespace).Get(of.Name)
			if err != nil {
				return "", 0, ignoreNotFound(err)
			}
			return string(deployment.UID), ptr.Deref(deployment.Spec.Replicas, 1), nil
		}
		return string(rs.UID), ptr.Deref(rs.Spec.Replicas, 1), nil
	case "StatefulSet":
		set, err := d.sets.StatefulSets(namespace).Get(owner.Name)
		if err != nil {
			return "", 0, ignoreNotFound(err)
		}
		return string(set.UID), ptr.Deref(set.Spec.Replicas, 1), nil
	}
	return "", 0, fmt.Errorf("%s.%s does not implement the scale subresource", owner.Kind, owner.APIVersion)
}
