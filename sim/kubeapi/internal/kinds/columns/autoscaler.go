package columns

import (
	"fmt"
	"strings"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	quantity "k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var Autoscaler = resource.NewPrinter("Name Reference Targets MinPods MaxPods Replicas Age", func(hpa *autoscalingv2.HorizontalPodAutoscaler, now time.Time) []any {
	target, least := hpa.Spec.ScaleTargetRef, "<unset>"
	if hpa.Spec.MinReplicas != nil {
		least = fmt.Sprint(*hpa.Spec.MinReplicas)
	}
	return []any{hpa.Name, target.Kind + "/" + target.Name, targets(hpa), least, hpa.Spec.MaxReplicas, hpa.Status.CurrentReplicas, resource.Age(hpa, now)}
})

// targets returns the metrics with their current and wanted values, at most two of them.
func targets(hpa *autoscalingv2.HorizontalPodAutoscaler) string {
	if len(hpa.Spec.Metrics) == 0 {
		return "<none>"
	}
	var all []string
	for i, spec := range hpa.Spec.Metrics {
		var status autoscalingv2.MetricStatus
		if i < len(hpa.Status.CurrentMetrics) {
			status = hpa.Status.CurrentMetrics[i]
		}
		all = append(all, metric(spec, status))
	}
	if len(all) > 2 {
		return fmt.Sprintf("%s + %d more...", strings.Join(all[:2], ", "), len(all)-2)
	}
	return strings.Join(all, ", ")
}

func metric(spec autoscalingv2.MetricSpec, status autoscalingv2.MetricStatus) string {
	var current autoscalingv2.MetricValueStatus
	switch {
	case spec.Resource != nil:
		if status.Resource != nil {
			current = status.Resource.Current
		}
		return fmt.Sprintf("%s: %s", spec.Resource.Name, ofResource(spec.Resource.Target, current))
	case spec.ContainerResource != nil:
		if status.ContainerResource != nil {
			current = status.ContainerResource.Current
		}
		return fmt.Sprintf("%s: %s", spec.ContainerResource.Name, ofResource(spec.ContainerResource.Target, current))
	case spec.Pods != nil:
		if status.Pods != nil {
			current = status.Pods.Current
		}
		return orValue(current.AverageValue, "<unknown>") + "/" + orValue(spec.Pods.Target.AverageValue, "<unknown>")
	case spec.Object != nil:
		if status.Object != nil {
			current = status.Object.Current
		}
		return ofValue(spec.Object.Target, current)
	case spec.External != nil:
		if status.External != nil {
			current = status.External.Current
		}
		return ofValue(spec.External.Target, current)
	}
	return "<unknown type>"
}

func ofResource(target autoscalingv2.MetricTarget, current autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return orValue(current.AverageValue, "<unknown>") + "/" + target.AverageValue.String()
	}
	return orPercent(current.AverageUtilization, "<unknown>") + "/" + orPercent(target.AverageUtilization, "<auto>")
}

func ofValue(target autoscalingv2.MetricTarget, current autoscalingv2.MetricValueStatus) string {
	if target.AverageValue != nil {
		return orValue(current.AverageValue, "<unknown>") + "/" + target.AverageValue.String() + " (avg)"
	}
	return orValue(current.Value, "<unknown>") + "/" + orValue(target.Value, "<unknown>")
}

func orValue(value *quantity.Quantity, otherwise string) string {
	if value == nil {
		return otherwise
	}
	return value.String()
}

func orPercent(value *int32, otherwise string) string {
	if value == nil {
		return otherwise
	}
	return fmt.Sprintf("%d%%", *value)
}
