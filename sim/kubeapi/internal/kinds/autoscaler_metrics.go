package kinds

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	quantity "k8s.io/apimachinery/pkg/api/resource"
)

// The metrics in the annotations of autoscaling/v1 have the shape of an older version.

func metricToV1(m autoscalingv2.MetricSpec) autoscalingv1.MetricSpec {
	old := autoscalingv1.MetricSpec{Type: autoscalingv1.MetricSourceType(m.Type)}
	if s := m.Object; s != nil {
		old.Object = &autoscalingv1.ObjectMetricSource{Target: autoscalingv1.CrossVersionObjectReference(s.DescribedObject),
			MetricName: s.Metric.Name, TargetValue: valueOf(s.Target.Value), Selector: s.Metric.Selector, AverageValue: s.Target.AverageValue}
	}
	if s := m.Pods; s != nil {
		old.Pods = &autoscalingv1.PodsMetricSource{MetricName: s.Metric.Name, TargetAverageValue: valueOf(s.Target.AverageValue), Selector: s.Metric.Selector}
	}
	if s := m.Resource; s != nil {
		old.Resource = &autoscalingv1.ResourceMetricSource{Name: s.Name, TargetAverageUtilization: s.Target.AverageUtilization, TargetAverageValue: s.Target.AverageValue}
	}
	if s := m.ContainerResource; s != nil {
		old.ContainerResource = &autoscalingv1.ContainerResourceMetricSource{Name: s.Name, Container: s.Container,
			TargetAverageUtilization: s.Target.AverageUtilization, TargetAverageValue: s.Target.AverageValue}
	}
	if s := m.External; s != nil {
		old.External = &autoscalingv1.ExternalMetricSource{MetricName: s.Metric.Name, MetricSelector: s.Metric.Selector,
			TargetValue: s.Target.Value, TargetAverageValue: s.Target.AverageValue}
	}
	return old
}

func metricFromV1(m autoscalingv1.MetricSpec) autoscalingv2.MetricSpec {
	next := autoscalingv2.MetricSpec{Type: autoscalingv2.MetricSourceType(m.Type)}
	if s := m.Object; s != nil {
		next.Object = &autoscalingv2.ObjectMetricSource{DescribedObject: autoscalingv2.CrossVersionObjectReference(s.Target),
			Metric: autoscalingv2.MetricIdentifier{Name: s.MetricName, Selector: s.Selector}, Target: targetOf(nil, s.AverageValue, &s.TargetValue)}
	}
	if s := m.Pods; s != nil {
		next.Pods = &autoscalingv2.PodsMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: s.MetricName, Selector: s.Selector}, Target: targetOf(nil, &s.TargetAverageValue, nil)}
	}
	if s := m.Resource; s != nil {
		next.Resource = &autoscalingv2.ResourceMetricSource{Name: s.Name, Target: targetOf(s.TargetAverageUtilization, s.TargetAverageValue, nil)}
	}
	if s := m.ContainerResource; s != nil {
		next.ContainerResource = &autoscalingv2.ContainerResourceMetricSource{Name: s.Name, Container: s.Container, Target: targetOf(s.TargetAverageUtilization, s.TargetAverageValue, nil)}
	}
	if s := m.External; s != nil {
		next.External = &autoscalingv2.ExternalMetricSource{Metric: autoscalingv2.MetricIdentifier{Name: s.MetricName, Selector: s.MetricSelector},
			Target: targetOf(nil, s.TargetAverageValue, s.TargetValue)}
	}
	return next
}

// targetOf returns a target with its type, which the older version does not have.
func targetOf(utilization *int32, average, value *quantity.Quantity) autoscalingv2.MetricTarget {
	target := autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageUtilization: utilization, AverageValue: average}
	switch {
	case utilization != nil:
		target.Type = autoscalingv2.UtilizationMetricType
	case average == nil && value != nil:
		target.Type = autoscalingv2.ValueMetricType
	}
	if value != nil && (average == nil || !value.IsZero()) {
		target.Value = value
	}
	return target
}

func metricStatusToV1(m autoscalingv2.MetricStatus) autoscalingv1.MetricStatus {
	old := autoscalingv1.MetricStatus{Type: autoscalingv1.MetricSourceType(m.Type)}
	if s := m.Object; s != nil {
		old.Object = &autoscalingv1.ObjectMetricStatus{Target: autoscalingv1.CrossVersionObjectReference(s.DescribedObject),
			MetricName: s.Metric.Name, CurrentValue: valueOf(s.Current.Value), Selector: s.Metric.Selector, AverageValue: s.Current.AverageValue}
	}
	if s := m.Pods; s != nil {
		old.Pods = &autoscalingv1.PodsMetricStatus{MetricName: s.Metric.Name, CurrentAverageValue: valueOf(s.Current.AverageValue), Selector: s.Metric.Selector}
	}
	if s := m.Resource; s != nil {
		old.Resource = &autoscalingv1.ResourceMetricStatus{Name: s.Name, CurrentAverageUtilization: s.Current.AverageUtilization, CurrentAverageValue: valueOf(s.Current.AverageValue)}
	}
	if s := m.ContainerResource; s != nil {
		old.ContainerResource = &autoscalingv1.ContainerResourceMetricStatus{Name: s.Name, Container: s.Container,
			CurrentAverageUtilization: s.Current.AverageUtilization, CurrentAverageValue: valueOf(s.Current.AverageValue)}
	}
	if s := m.External; s != nil {
		old.External = &autoscalingv1.ExternalMetricStatus{MetricName: s.Metric.Name, MetricSelector: s.Metric.Selector,
			CurrentValue: valueOf(s.Current.Value), CurrentAverageValue: s.Current.AverageValue}
	}
	return old
}

func metricStatusFromV1(m autoscalingv1.MetricStatus) autoscalingv2.MetricStatus {
	next := autoscalingv2.MetricStatus{Type: autoscalingv2.MetricSourceType(m.Type)}
	if s := m.Object; s != nil {
		next.Object = &autoscalingv2.ObjectMetricStatus{DescribedObject: autoscalingv2.CrossVersionObjectReference(s.Target),
			Metric: autoscalingv2.MetricIdentifier{Name: s.MetricName, Selector: s.Selector}, Current: autoscalingv2.MetricValueStatus{Value: &s.CurrentValue, AverageValue: s.AverageValue}}
	}
	if s := m.Pods; s != nil {
		next.Pods = &autoscalingv2.PodsMetricStatus{Metric: autoscalingv2.MetricIdentifier{Name: s.MetricName, Selector: s.Selector},
			Current: autoscalingv2.MetricValueStatus{AverageValue: &s.CurrentAverageValue}}
	}
	if s := m.Resource; s != nil {
		next.Resource = &autoscalingv2.ResourceMetricStatus{Name: s.Name,
			Current: autoscalingv2.MetricValueStatus{AverageUtilization: s.CurrentAverageUtilization, AverageValue: &s.CurrentAverageValue}}
	}
	if s := m.ContainerResource; s != nil {
		next.ContainerResource = &autoscalingv2.ContainerResourceMetricStatus{Name: s.Name, Container: s.Container,
			Current: autoscalingv2.MetricValueStatus{AverageUtilization: s.CurrentAverageUtilization, AverageValue: &s.CurrentAverageValue}}
	}
	if s := m.External; s != nil {
		next.External = &autoscalingv2.ExternalMetricStatus{Metric: autoscalingv2.MetricIdentifier{Name: s.MetricName, Selector: s.MetricSelector},
			Current: autoscalingv2.MetricValueStatus{Value: &s.CurrentValue, AverageValue: s.CurrentAverageValue}}
	}
	return next
}

func valueOf(q *quantity.Quantity) quantity.Quantity {
	if q == nil {
		return quantity.Quantity{}
	}
	return *q
}
