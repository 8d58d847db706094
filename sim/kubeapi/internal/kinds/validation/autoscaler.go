package validation

import (
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// The rules of autoscalers (pkg/apis/autoscaling/validation at v1.36), except those about single
// metrics.

const (
	maxStabilizationWindow = 3600
	maxScalingPeriod       = 1800
)

func Autoscaler(hpa, old *autoscalingv2.HorizontalPodAutoscaler, _ resource.Cluster) (problems field.ErrorList) {
	if old != nil && unchanged(&hpa.Spec, &old.Spec) {
		return nil
	}
	spec, at := &hpa.Spec, field.NewPath("spec")
	least := ptrTo(spec.MinReplicas, 1)
	if least < 1 {
		problems = append(problems, field.Invalid(at.Child("minReplicas"), least, "must be greater than or equal to 1"))
	}
	switch most := at.Child("maxReplicas"); {
	case spec.MaxReplicas == 0:
		problems = append(problems, field.Required(most, "must be set and greater than 0"))
	case spec.MaxReplicas < 0:
		problems = append(problems, field.Invalid(most, spec.MaxReplicas, "must be greater than or equal to 1"))
	}
	if spec.MaxReplicas < least {
		problems = append(problems, field.Invalid(at.Child("maxReplicas"), spec.MaxReplicas, "must be greater than or equal to `minReplicas`"))
	}
	problems = append(problems, validateScaleTarget(&spec.ScaleTargetRef, at.Child("scaleTargetRef"))...)
	if least == 0 && !slices.ContainsFunc(spec.Metrics, worksWithoutPods) {
		problems = append(problems, field.Forbidden(at.Child("metrics"), "must specify at least one Object or External metric to support scaling to zero replicas"))
	}
	if spec.Behavior != nil {
		problems = append(problems, validateScalingRules(spec.Behavior.ScaleUp, at.Child("behavior", "scaleUp"))...)
		problems = append(problems, validateScalingRules(spec.Behavior.ScaleDown, at.Child("behavior", "scaleDown"))...)
	}
	return problems
}

func worksWithoutPods(metric autoscalingv2.MetricSpec) bool {
	return metric.Type == autoscalingv2.ObjectMetricSourceType || metric.Type == autoscalingv2.ExternalMetricSourceType
}

func validateScaleTarget(ref *autoscalingv2.CrossVersionObjectReference, at *field.Path) (problems field.ErrorList) {
	for _, part := range []struct{ name, value string }{{"kind", ref.Kind}, {"name", ref.Name}} {
		if part.value == "" {
			problems = append(problems, field.Required(at.Child(part.name), ""))
		} else {
			problems = append(problems, invalidAs(at.Child(part.name), part.value, path.IsValidPathSegmentName(part.value))...)
		}
	}
	switch gv, err := schema.ParseGroupVersion(ref.APIVersion); {
	case err != nil:
		problems = append(problems, field.Invalid(at.Child("apiVersion"), ref.APIVersion, err.Error()))
	case gv.Group == "":
		problems = append(problems, field.Invalid(at.Child("apiVersion"), ref.APIVersion, "apiVersion must specify API group"))
	}
	return problems
}

func validateScalingRules(rules *autoscalingv2.HPAScalingRules, at *field.Path) (problems field.ErrorList) {
	if window := rules.StabilizationWindowSeconds; window != nil {
		switch path := at.Child("stabilizationWindowSeconds"); {
		case *window < 0:
			problems = append(problems, field.Invalid(path, *window, "must be greater than or equal to zero"))
		case *window > maxStabilizationWindow:
			problems = append(problems, field.Invalid(path, *window, "must be less than or equal to 3600"))
		}
	}
	problems = append(problems, oneOf(at.Child("selectPolicy"), *rules.SelectPolicy,
		autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)...)
	if len(rules.Policies) == 0 {
		problems = append(problems, field.Required(at.Child("policies"), "must specify at least one Policy"))
	}
	for i, policy := range rules.Policies {
		at := at.Child("policies").Index(i)
		problems = append(problems, oneOf(at.Child("type"), policy.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)...)
		if policy.Value <= 0 {
			problems = append(problems, field.Invalid(at.Child("value"), policy.Value, "must be greater than zero"))
		}
		if policy.PeriodSeconds <= 0 {
			problems = append(problems, field.Invalid(at.Child("periodSeconds"), policy.PeriodSeconds, "must be greater than zero"))
		}
		if policy.PeriodSeconds > maxScalingPeriod {
			problems = append(problems, field.Invalid(at.Child("periodSeconds"), policy.PeriodSeconds, "must be less than or equal to 1800"))
		}
	}
	return problems
}
