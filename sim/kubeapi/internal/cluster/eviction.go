package cluster

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// The eviction of a pod (kube-apiserver: pkg/registry/core/pod/storage/eviction.go): a deletion that
// a PodDisruptionBudget can refuse.

const (
	maxDisrupted   = 2000 // evicted pods of a budget that its controller has not seen yet
	budgetBusyWait = 10   // seconds after which a client may try again
	wouldViolate   = "Cannot evict pod as it would violate the pod's disruption budget."
)

var budgets = schema.GroupResource{Group: "policy", Resource: "poddisruptionbudget"}

// Evict deletes the pod that op names, unless its budget forbids that.
func (s *State) Evict(op *Operation, eviction *policyv1.Eviction, dryRun bool) error {
	if eviction.Name != op.Name {
		return errors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	opts, err := evictionOptions(eviction, dryRun)
	if err != nil {
		return err
	}
	base := op.Objects.Get(op.Key())
	if base == nil {
		return op.NotFound()
	}
	pod, err := base.Decode()
	if err != nil {
		return err
	}
	guarded, err := s.mayEvict(pod.(*corev1.Pod), len(opts.DryRun) > 0)
	if err != nil {
		return err
	}
	if guarded != "" && (opts.Preconditions == nil || opts.Preconditions.ResourceVersion == nil) {
		opts.Preconditions = withVersion(opts.Preconditions, object.FormatVersion(base.Version))
		err := s.endEvicted(op, opts)
		if errors.IsConflict(err) {
			return budgetBusy(guarded) // the pod has changed, so the budget may guard it now
		}
		return err
	}
	return s.endEvicted(op, opts)
}

func withVersion(p *metav1.Preconditions, rv string) *metav1.Preconditions {
	next := metav1.Preconditions{ResourceVersion: &rv}
	if p != nil {
		next.UID = p.UID
	}
	return &next
}

// evictionOptions returns the options of the deletion. The request and the eviction may both ask
// for a dry run.
func evictionOptions(eviction *policyv1.Eviction, dryRun bool) (*metav1.DeleteOptions, error) {
	opts := &metav1.DeleteOptions{}
	if eviction.DeleteOptions != nil {
		opts = eviction.DeleteOptions.DeepCopy()
	}
	asked := []string{metav1.DryRunAll}
	switch {
	case !dryRun:
	case len(opts.DryRun) == 0:
		opts.DryRun = asked
	case !reflect.DeepEqual(opts.DryRun, asked):
		return nil, fmt.Errorf("Non-matching dry-run options in request and content: %v and %v", asked, opts.DryRun) //nolint:staticcheck // kube-apiserver's message
	}
	return opts, nil
}

// mayEvict returns an error if a budget forbids the eviction; else it counts the eviction. If the
// budget allows the eviction only because the pod is unhealthy, mayEvict returns the budget's name.
func (s *State) mayEvict(pod *corev1.Pod, dryRun bool) (budget string, err error) {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return "", nil
	}
	if pod.DeletionTimestamp != nil {
		return "", nil
	}
	found, err := s.budgetsOf(pod)
	switch {
	case err != nil || len(found) == 0:
		return "", err
	case len(found) > 1:
		return "", &errors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 500,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."}}
	}
	for {
		if found, err = s.budgetsOf(pod); err != nil || len(found) != 1 {
			return "", err
		}
		pdb := found[0]
		if !isPodReady(pod) && ignoresUnhealthy(pdb.next) {
			return pdb.base.Name, nil
		}
		if err := countEviction(pdb.next, pod.Name); err != nil || dryRun {
			return "", err
		}
		if err = s.writeBudget(pdb); !store.IsConflict(err) {
			return "", err
		}
	}
}

// budget is a stored PodDisruptionBudget with its decoded copy.
type budget struct {
	base *store.Object
	next *policyv1.PodDisruptionBudget
}

func (s *State) budgetsOf(pod *corev1.Pod) (found []budget, err error) {
	stored, _, _ := s.BuiltIn(policyv1.SchemeGroupVersion, "poddisruptionbudgets").Snapshot()
	for _, o := range stored {
		if o.Namespace != pod.Namespace {
			continue
		}
		obj, err := o.Decode()
		if err != nil {
			return nil, err
		}
		pdb := obj.(*policyv1.PodDisruptionBudget)
		if selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector); err == nil && selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, budget{o, pdb})
		}
	}
	return found, nil
}

func isPodReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// ignoresUnhealthy reports whether a budget allows the eviction of unhealthy pods.
func ignoresUnhealthy(pdb *policyv1.PodDisruptionBudget) bool {
	if policy := pdb.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return pdb.Status.CurrentHealthy >= pdb.Status.DesiredHealthy && pdb.Status.DesiredHealthy > 0
}

// countEviction counts the eviction in the status of a budget, or refuses it.
func countEviction(pdb *policyv1.PodDisruptionBudget, pod string) error {
	status := &pdb.Status
	switch {
	case status.ObservedGeneration < pdb.Generation:
		return budgetBusy(pdb.Name)
	case status.DisruptionsAllowed < 0:
		return errors.NewForbidden(budgets, pdb.Name, fmt.Errorf("pdb disruptions allowed is negative"))
	case len(status.DisruptedPods) > maxDisrupted:
		return errors.NewForbidden(budgets, pdb.Name, fmt.Errorf("DisruptedPods map too big - too many evictions not confirmed by PDB controller"))
	case status.DisruptionsAllowed == 0:
		return tooMany(0, refusalOf(pdb))
	}
	status.DisruptionsAllowed--
	if status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse,
			Reason: policyv1.InsufficientPodsReason, ObservedGeneration: status.ObservedGeneration})
	}
	if status.DisruptedPods == nil {
		status.DisruptedPods = map[string]metav1.Time{}
	}
	status.DisruptedPods[pod] = metav1.Now()
	return nil
}

// refusalOf says why a budget allows no disruption.
func refusalOf(pdb *policyv1.PodDisruptionBudget) string {
	condition := meta.FindStatusCondition(pdb.Status.Conditions, policyv1.DisruptionAllowedCondition)
	refused := condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != ""
	switch {
	case refused && condition.Reason == policyv1.SyncFailedReason:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", pdb.Name, condition.Message)
	case pdb.Status.CurrentHealthy <= pdb.Status.DesiredHealthy:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", pdb.Name, pdb.Status.DesiredHealthy, pdb.Status.CurrentHealthy)
	case refused:
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", pdb.Name, condition.Reason, condition.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", pdb.Name)
}

// budgetBusy returns the 429 error for a budget whose status is not up to date.
func budgetBusy(name string) error {
	return tooMany(budgetBusyWait, fmt.Sprintf("The disruption budget %s is still being processed by the server.", name))
}

func tooMany(seconds int, cause string) error {
	err := errors.NewTooManyRequests(wouldViolate, seconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: cause})
	return err
}

// writeBudget stores the status of a budget. Its field manager is kube-apiserver, as there.
func (s *State) writeBudget(pdb budget) error {
	c := s.BuiltIn(policyv1.SchemeGroupVersion, "poddisruptionbudgets")
	old, err := pdb.base.Decode()
	if err != nil {
		return err
	}
	next, err := ownership.Tracker{Resource: c.Resource, Subresource: "status"}.Update(pdb.base, old, pdb.next, "kube-apiserver")
	if err != nil {
		return err
	}
	t, err := prepareUpdate(c, c.Resource, pdb.base, old, next, false)
	if err == nil && t.Kind != "" {
		_, err = c.Commit(t)
	}
	return err
}

// endEvicted marks the pod as the target of a disruption and deletes it.
func (s *State) endEvicted(op *Operation, opts *metav1.DeleteOptions) error {
	deletion := *op // the write goes to the pod itself, and webhooks do not see it
	deletion.Subresource, deletion.rulesOverride, deletion.Caller = "", evictedPods, nil
	if len(opts.DryRun) == 0 {
		marked, err := s.modify(&deletion, false, (*store.Object).Decode, func(base *store.Object, old runtime.Object) (runtime.Object, error) {
			if err := checkPreconditions(&deletion, base, opts.Preconditions); err != nil {
				return nil, err
			}
			next := old.DeepCopyObject().(*corev1.Pod)
			markDisrupted(&next.Status)
			return next, nil
		})
		if err != nil {
			return err
		}
		if opts.Preconditions != nil && opts.Preconditions.ResourceVersion != nil {
			opts.Preconditions = withVersion(opts.Preconditions, object.FormatVersion(marked.Version))
		}
	}
	_, _, err := s.Delete(&deletion, opts)
	return err
}

func markDisrupted(status *corev1.PodStatus) {
	const reason, message = "EvictionByEvictionAPI", "Eviction API: evicting"
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	for i := range status.Conditions {
		if c := &status.Conditions[i]; c.Type == corev1.DisruptionTarget {
			if c.Status != corev1.ConditionTrue {
				c.Status, c.LastTransitionTime = corev1.ConditionTrue, now
			}
			c.Reason, c.Message = reason, message
			return
		}
	}
	status.Conditions = append(status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		LastTransitionTime: now, Reason: reason, Message: message})
}

// evictedPods is the pods resource with the same rules, except that the eviction also changes the
// status.
var evictedPods = func() *resource.Resource {
	pods := *kinds.Find(corev1.SchemeGroupVersion, "pods")
	pods.Status, pods.Generation, pods.Prepare, pods.Validate = false, false, nil, nil
	return &pods
}()
