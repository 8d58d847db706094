package controllers

import (
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// reportMissingMetrics writes that the metrics could not be read, with the reason and the message
// of a cluster where no metrics API is installed.
func (a *autoscaler) reportMissingMetrics(h *autoscalingv2.HorizontalPodAutoscaler) {
	reason, message := missingMetric(h)
	message = "the HPA was unable to compute the replica count: " + message
	a.warn(h, reason, message)
	setAutoscaling(h, autoscalingv2.ScalingActive, corev1.ConditionFalse, reason, message)
}

// missingMetric returns why the first metric of an autoscaler cannot be read.
func missingMetric(h *autoscalingv2.HorizontalPodAutoscaler) (reason, message string) {
	var m autoscalingv2.MetricSpec
	if len(h.Spec.Metrics) > 0 {
		m = h.Spec.Metrics[0]
	}
	const lacks = "the server could not find the requested resource"
	resource := func(name corev1.ResourceName) (string, string) {
		return "FailedGetResourceMetric", fmt.Sprintf("failed to get %s utilization: unable to get metrics for resource %[1]s: "+
			"unable to fetch metrics from resource metrics API: %s (get pods.metrics.k8s.io)", name, lacks)
	}
	switch {
	case m.Resource != nil:
		return resource(m.Resource.Name)
	case m.ContainerResource != nil:
		return "FailedGetContainerResourceMetric", fmt.Sprintf("failed to get %s container metric value: unable to get metrics for resource %[1]s: "+
			"unable to fetch metrics from resource metrics API: %s (get pods.metrics.k8s.io)", m.ContainerResource.Name, lacks)
	case m.Pods != nil:
		return "FailedGetPodsMetric", fmt.Sprintf("failed to get pods metric value: unable to get metric %s: unable to fetch metrics from custom metrics API: %s",
			m.Pods.Metric.Name, lacks)
	case m.Object != nil:
		return "FailedGetObjectMetric", fmt.Sprintf("failed to get object metric value: unable to get metric %s: unable to fetch metrics from custom metrics API: %s",
			m.Object.Metric.Name, lacks)
	case m.External != nil:
		return "FailedGetExternalMetric", fmt.Sprintf("failed to get external metric %s: unable to fetch metrics from external metrics API: %s",
			m.External.Metric.Name, lacks)
	}
	return resource(corev1.ResourceCPU) // the default metric
}
