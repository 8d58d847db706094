package defaults

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// defaultUtilization is the CPU utilization, in percent of the request, that an autoscaler without
// metrics keeps.
const defaultUtilization = 80

func Autoscaler(hpa, _ *autoscalingv2.HorizontalPodAutoscaler) {
	setPointer(&hpa.Spec.MinReplicas, 1)
	if len(hpa.Spec.Metrics) == 0 {
		hpa.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name:   corev1.ResourceCPU,
			Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(defaultUtilization))},
		}}}
	}
	if b := hpa.Spec.Behavior; b != nil {
		b.ScaleUp = scalingRules(b.ScaleUp, 0, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: 15},
			autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15})
		b.ScaleDown = scalingRules(b.ScaleDown, -1, autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: 15})
	}
}

// scalingRules completes the rules of one direction. A negative window has no default, because the
// controller's own setting applies.
func scalingRules(rules *autoscalingv2.HPAScalingRules, window int32, policies ...autoscalingv2.HPAScalingPolicy) *autoscalingv2.HPAScalingRules {
	if rules == nil {
		rules = &autoscalingv2.HPAScalingRules{}
	}
	setPointer(&rules.SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if window >= 0 {
		setPointer(&rules.StabilizationWindowSeconds, window)
	}
	if rules.Policies == nil {
		rules.Policies = policies
	}
	return rules
}
