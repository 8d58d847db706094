package kubeapi

import (
	stderrors "errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// A budget allows no eviction until its status does, and counts each eviction in its status.
func TestEvictionRespectsBudgets(t *testing.T) {
	c := client(t, start(t).Config())
	pods, budgets := c.CoreV1().Pods("default"), c.PolicyV1().PodDisruptionBudgets("default")
	for _, name := range []string{"a", "b"} {
		pod := podWith(name, "")
		pod.Labels = map[string]string{"app": "web"}
		pod, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
		check(t, err)
		pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		_, err = pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{})
		check(t, err)
	}
	one := intstr.FromInt32(1)
	pdb, err := budgets.Create(t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}, metav1.CreateOptions{})
	check(t, err)
	evict := func(name string, opts *metav1.DeleteOptions) error {
		eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, DeleteOptions: opts}
		return c.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/default/pods", name, "eviction").Body(eviction).
			MaxRetries(0).Do(t.Context()).Error() // a client would try again after ten seconds
	}
	refused := func(err error, cause string) {
		t.Helper()
		var status errors.APIStatus
		if !errors.IsTooManyRequests(err) || !errors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
			t.Fatalf("want a refusal by the budget, got %v", err)
		}
		if !stderrors.As(err, &status) || status.Status().Details.Causes[0].Message != cause {
			t.Errorf("cause %q", status.Status().Details.Causes[0].Message)
		}
	}
	refused(evict("a", nil), "The disruption budget web is still being processed by the server.")
	pdb.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 2}
	_, err = budgets.UpdateStatus(t.Context(), pdb, metav1.UpdateOptions{})
	check(t, err)
	check(t, evict("a", &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}))
	check(t, evict("a", nil))
	if _, err := pods.Get(t.Context(), "a", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("the evicted pod: %v", err)
	}
	pdb, err = budgets.Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	if _, counted := pdb.Status.DisruptedPods["a"]; pdb.Status.DisruptionsAllowed != 0 || !counted {
		t.Errorf("status after an eviction: %+v", pdb.Status)
	}
	refused(evict("b", nil), "The disruption budget web does not allow evicting pods currently")
	check(t, budgets.Delete(t.Context(), "web", metav1.DeleteOptions{}))
	check(t, evict("b", nil))
}
