package controllers_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// event waits for an event with a reason.
func (r rig) event(reason string) *corev1.Event {
	r.Helper()
	var found *corev1.Event
	until(r, "event "+reason, r.watch("events", "default"), func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.Reason == reason {
				found = e
				return true
			}
		}
		return false
	})
	return found
}

// An autoscaler keeps its limits, and says why it does nothing else.
func TestAutoscalersKeepTheirLimits(t *testing.T) {
	r := start(t, controllers.Options{}, "autoscaler", "deployment", "replicaset", "scheduler", "kubelet")
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), web(1), metav1.CreateOptions{}))(r)
	h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"}, MinReplicas: new(int32(2)), MaxReplicas: 4,
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))}}}}}}
	must(r.kube.AutoscalingV2().HorizontalPodAutoscalers("default").Create(t.Context(), h, metav1.CreateOptions{}))(r)
	one(r, "deployments", "default", "web", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 2 && d.Status.ReadyReplicas == 2 })
	if e := r.event("SuccessfulRescale"); e.Message != "New size: 2; reason: Current number of replicas below Spec.MinReplicas" {
		t.Errorf("event %q", e.Message)
	}
	// A change of the autoscaler triggers a check at once.
	must(r.kube.AutoscalingV2().HorizontalPodAutoscalers("default").Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{"spec":{"maxReplicas":3}}`), metav1.PatchOptions{}))(r)
	h = one(r, "horizontalpodautoscalers", "default", "web", func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
		return len(h.Status.Conditions) == 2 && h.Status.CurrentReplicas == 2 && h.Status.DesiredReplicas == 2
	})
	for _, c := range h.Status.Conditions {
		switch c.Type {
		case autoscalingv2.AbleToScale:
			if c.Status != corev1.ConditionTrue {
				t.Errorf("condition %+v", c)
			}
		case autoscalingv2.ScalingActive:
			if c.Status != corev1.ConditionFalse || c.Reason != "FailedGetResourceMetric" || !strings.HasSuffix(c.Message, "could not find the requested resource (get pods.metrics.k8s.io)") {
				t.Errorf("condition %+v", c)
			}
		}
	}

	must(r.kube.AutoscalingV2().HorizontalPodAutoscalers("default").Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{"spec":{"minReplicas":1,"maxReplicas":1}}`), metav1.PatchOptions{}))(r)
	one(r, "deployments", "default", "web", func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 1 })

	// A target that is scaled to zero stays there.
	r.patch("deployments", "web", `{"spec":{"replicas":0}}`)
	must(r.kube.AutoscalingV2().HorizontalPodAutoscalers("default").Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{"spec":{"maxReplicas":5}}`), metav1.PatchOptions{}))(r)
	one(r, "horizontalpodautoscalers", "default", "web", func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
		return strings.Contains(h.Status.Conditions[1].Reason, "ScalingDisabled")
	})
}

func TestAutoscalersOfMissingTargets(t *testing.T) {
	r := start(t, controllers.Options{}, "autoscaler")
	for name, kind := range map[string]string{"no-object": "Deployment", "no-kind": "Rocket"} {
		h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: kind, Name: "web"}, MaxReplicas: 4}}
		must(r.kube.AutoscalingV2().HorizontalPodAutoscalers("default").Create(t.Context(), h, metav1.CreateOptions{}))(r)
		one(r, "horizontalpodautoscalers", "default", name, func(h *autoscalingv2.HorizontalPodAutoscaler) bool {
			return len(h.Status.Conditions) == 1 && h.Status.Conditions[0].Status == corev1.ConditionFalse && h.Status.Conditions[0].Reason == "FailedGetScale"
		})
	}
}

// A target may have a kind that was defined after the first autoscaler.
func TestAutoscalersOfNewKinds(t *testing.T) {
	r := start(t, controllers.Options{}, "autoscaler")
	scale := func(name, version, kind string) {
		h := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: version, Kind: kind, Name: "web"}, MaxReplicas: 4}}
		must(r.kube.AutoscalingV2().HorizontalPodAutoscalers("default").Create(t.Context(), h, metav1.CreateOptions{}))(r)
	}
	scale("first", "apps/v1", "Deployment") // makes the controller read the kinds
	one(r, "horizontalpodautoscalers", "default", "first", func(h *autoscalingv2.HorizontalPodAutoscaler) bool { return len(h.Status.Conditions) == 1 })
	r.define(must(dynamic.NewForConfig(r.api.Config()))(r), "rockets", "Rocket")
	scale("second", "example.com/v1", "Rocket")
	h := one(r, "horizontalpodautoscalers", "default", "second", func(h *autoscalingv2.HorizontalPodAutoscaler) bool { return len(h.Status.Conditions) == 1 })
	if message := h.Status.Conditions[0].Message; strings.Contains(message, "no matches for kind") {
		t.Errorf("condition %q", message)
	}
}
