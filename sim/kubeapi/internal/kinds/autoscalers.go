package kinds

import (
	"encoding/json"
	"maps"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
)

// autoscaling/v1 has one metric, the CPU utilization. It carries everything else of an autoscaler in
// annotations (kube-apiserver: pkg/apis/autoscaling/v1/conversion.go).
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
)

func autoscalerToV1(obj runtime.Object) runtime.Object {
	stored := obj.(*autoscalingv2.HorizontalPodAutoscaler).DeepCopy()
	shown := &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: stored.ObjectMeta,
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(stored.Spec.ScaleTargetRef),
			MinReplicas:    stored.Spec.MinReplicas,
			MaxReplicas:    stored.Spec.MaxReplicas,
		},
		Status: autoscalingv1.HorizontalPodAutoscalerStatus{
			ObservedGeneration: stored.Status.ObservedGeneration,
			LastScaleTime:      stored.Status.LastScaleTime,
			CurrentReplicas:    stored.Status.CurrentReplicas,
			DesiredReplicas:    stored.Status.DesiredReplicas,
		},
	}
	var others []autoscalingv1.MetricSpec
	for _, metric := range stored.Spec.Metrics {
		switch {
		case !utilizesCPU(metric):
			others = append(others, metricToV1(metric))
		case shown.Spec.TargetCPUUtilizationPercentage == nil:
			shown.Spec.TargetCPUUtilizationPercentage = metric.Resource.Target.AverageUtilization
		}
	}
	var current []autoscalingv1.MetricStatus
	for _, metric := range stored.Status.CurrentMetrics {
		if r := metric.Resource; r != nil && r.Name == corev1.ResourceCPU && r.Current.AverageUtilization != nil {
			shown.Status.CurrentCPUUtilizationPercentage = r.Current.AverageUtilization
		}
		current = append(current, metricStatusToV1(metric))
	}
	annotate(shown, metricsAnnotation, len(others) > 0, others)
	annotate(shown, currentMetricsAnnotation, len(current) > 0, current)
	annotate(shown, conditionsAnnotation, len(stored.Status.Conditions) > 0, stored.Status.Conditions)
	annotate(shown, behaviorAnnotation, stored.Spec.Behavior != nil, untagged(stored.Spec.Behavior))
	return shown
}

// untagged returns b as kube-apiserver writes it to the annotation: in its internal type, whose fields
// have no JSON tags. Decoding ignores the case of their names.
func untagged(b *autoscalingv2.HorizontalPodAutoscalerBehavior) any {
	type policy struct {
		Type                 autoscalingv2.HPAScalingPolicyType
		Value, PeriodSeconds int32
	}
	type rules struct {
		StabilizationWindowSeconds *int32
		SelectPolicy               *autoscalingv2.ScalingPolicySelect
		Policies                   []policy
		Tolerance                  *quantity.Quantity
	}
	if b == nil {
		return nil
	}
	convert := func(from *autoscalingv2.HPAScalingRules) *rules {
		if from == nil {
			return nil
		}
		to := &rules{from.StabilizationWindowSeconds, from.SelectPolicy, nil, from.Tolerance}
		for _, p := range from.Policies {
			to.Policies = append(to.Policies, policy(p))
		}
		return to
	}
	return struct{ ScaleUp, ScaleDown *rules }{convert(b.ScaleUp), convert(b.ScaleDown)}
}

func utilizesCPU(metric autoscalingv2.MetricSpec) bool {
	return metric.Type == autoscalingv2.ResourceMetricSourceType && metric.Resource != nil && metric.Resource.Name == corev1.ResourceCPU &&
		metric.Resource.Target.AverageUtilization != nil
}

func annotate(hpa *autoscalingv1.HorizontalPodAutoscaler, name string, there bool, value any) {
	text, err := json.Marshal(value)
	if !there || err != nil {
		return
	}
	if hpa.Annotations == nil {
		hpa.Annotations = map[string]string{}
	}
	hpa.Annotations[name] = string(text)
}

func autoscalerFromV1(obj runtime.Object) runtime.Object {
	shown := obj.(*autoscalingv1.HorizontalPodAutoscaler)
	stored := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: *shown.ObjectMeta.DeepCopy(),
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(shown.Spec.ScaleTargetRef),
			MinReplicas:    shown.Spec.MinReplicas,
			MaxReplicas:    shown.Spec.MaxReplicas,
		},
		Status: autoscalingv2.HorizontalPodAutoscalerStatus{
			ObservedGeneration: shown.Status.ObservedGeneration,
			LastScaleTime:      shown.Status.LastScaleTime,
			CurrentReplicas:    shown.Status.CurrentReplicas,
			DesiredReplicas:    shown.Status.DesiredReplicas,
		},
	}
	for _, metric := range read[[]autoscalingv1.MetricSpec](shown, metricsAnnotation) {
		stored.Spec.Metrics = append(stored.Spec.Metrics, metricFromV1(metric))
	}
	for _, metric := range read[[]autoscalingv1.MetricStatus](shown, currentMetricsAnnotation) {
		stored.Status.CurrentMetrics = append(stored.Status.CurrentMetrics, metricStatusFromV1(metric))
	}
	stored.Status.Conditions = read[[]autoscalingv2.HorizontalPodAutoscalerCondition](shown, conditionsAnnotation)
	stored.Spec.Behavior = read[*autoscalingv2.HorizontalPodAutoscalerBehavior](shown, behaviorAnnotation)
	if target := shown.Spec.TargetCPUUtilizationPercentage; target != nil {
		stored.Spec.Metrics = append(stored.Spec.Metrics, autoscalingv2.MetricSpec{
			Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: corev1.ResourceCPU,
				Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: target}}})
	}
	maps.DeleteFunc(stored.Annotations, func(name, _ string) bool {
		return slices.Contains([]string{metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation}, name)
	})
	return stored
}

// read reads an annotation; like kube-apiserver it ignores one that it cannot decode.
func read[T any](hpa *autoscalingv1.HorizontalPodAutoscaler, name string) T {
	var value, none T
	if text, there := hpa.Annotations[name]; !there || json.Unmarshal([]byte(text), &value) != nil {
		return none
	}
	return value
}
