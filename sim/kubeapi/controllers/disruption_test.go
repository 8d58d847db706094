package controllers_test

import (
	"fmt"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// budget writes the status of a budget: healthy, desired and expected pods, and allowed disruptions.
func budget(b *policyv1.PodDisruptionBudget) string {
	s := b.Status
	reason := ""
	for _, c := range s.Conditions {
		reason = c.Reason
	}
	return fmt.Sprintf("%d healthy, %d desired, %d expected, %d allowed: %s", s.CurrentHealthy, s.DesiredHealthy, s.ExpectedPods, s.DisruptionsAllowed, reason)
}

func TestBudgetsCountPods(t *testing.T) {
	r := start(t, controllers.Options{}, "disruption", "deployment", "replicaset", "scheduler", "kubelet")
	number, percent := intstr.FromInt32(3), intstr.FromString("25%")
	for name, spec := range map[string]policyv1.PodDisruptionBudgetSpec{
		"number": {MinAvailable: &number}, "percent": {MinAvailable: &percent}, "unavailable": {MaxUnavailable: &percent}} {
		spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
		must(r.kube.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), b, metav1.CreateOptions{}))(r)
	}
	expect := func(name, want string) {
		t.Helper()
		one(r, "poddisruptionbudgets", "default", name, func(b *policyv1.PodDisruptionBudget) bool {
			return budget(b) == want && b.Status.ObservedGeneration == b.Generation
		})
	}
	expect("number", "0 healthy, 3 desired, 0 expected, 0 allowed: InsufficientPods")
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), web(5), metav1.CreateOptions{}))(r)
	expect("number", "5 healthy, 3 desired, 5 expected, 2 allowed: SufficientPods")
	expect("percent", "5 healthy, 2 desired, 5 expected, 3 allowed: SufficientPods")
	expect("unavailable", "5 healthy, 3 desired, 5 expected, 2 allowed: SufficientPods")
	r.patch("deployments", "web", `{"spec":{"replicas":3}}`)
	expect("number", "3 healthy, 3 desired, 3 expected, 0 allowed: InsufficientPods")
	expect("unavailable", "3 healthy, 2 desired, 3 expected, 1 allowed: SufficientPods")
}
