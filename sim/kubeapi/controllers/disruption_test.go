package controllers_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// An eviction needs a budget that allows it, and uses it up until the pod is replaced.
func TestBudgetsDecideAboutEvictions(t *testing.T) {
	r := start(t, controllers.Options{}, "disruption", "statefulset")
	single := intstr.FromInt32(1)
	b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &single,
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	must(r.kube.PolicyV1().PodDisruptionBudgets("default").Create(t.Context(), b, metav1.CreateOptions{}))(r)
	set := database(2)
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	must(r.kube.AppsV1().StatefulSets("default").Create(t.Context(), set, metav1.CreateOptions{}))(r)
	for _, name := range []string{"db-0", "db-1"} { // without a kubelet, the test decides which pods are ready
		pod := one(r, "pods", "default", name, func(*corev1.Pod) bool { return true })
		pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		must(r.kube.CoreV1().Pods("default").UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}))(r)
	}
	allowed := func(n int32) {
		t.Helper()
		one(r, "poddisruptionbudgets", "default", "db", func(b *policyv1.PodDisruptionBudget) bool {
			return b.Status.DisruptionsAllowed == n && b.Status.ExpectedPods == 2
		})
	}
	evict := func(name string) error {
		return r.kube.PolicyV1().Evictions("default").Evict(t.Context(), &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}})
	}
	allowed(1)
	if err := evict("db-1"); err != nil {
		t.Fatal(err)
	}
	allowed(0)
	if err := evict("db-0"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the second eviction: %v", err)
	}
}
