package validation

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules for how a workload replaces its pods.

func validateDeploymentStrategy(strategy *appsv1.DeploymentStrategy, path *field.Path) (problems field.ErrorList) {
	rolling, at := strategy.RollingUpdate, path.Child("rollingUpdate")
	switch strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		if rolling != nil {
			problems = append(problems, field.Forbidden(at, "may not be specified when strategy `type` is 'Recreate'"))
		}
	case appsv1.RollingUpdateDeploymentStrategyType: // its fields have defaults
		problems = append(problems, countOrPercent(*rolling.MaxUnavailable, at.Child("maxUnavailable"))...)
		problems = append(problems, countOrPercent(*rolling.MaxSurge, at.Child("maxSurge"))...)
		if amount(*rolling.MaxUnavailable) == 0 && amount(*rolling.MaxSurge) == 0 {
			problems = append(problems, field.Invalid(at.Child("maxUnavailable"), *rolling.MaxUnavailable, "may not be 0 when `maxSurge` is 0"))
		}
		problems = append(problems, notAboveAll(*rolling.MaxUnavailable, at.Child("maxUnavailable"))...)
	default:
		problems = append(problems, field.NotSupported(path, strategy,
			[]appsv1.DeploymentStrategyType{appsv1.RecreateDeploymentStrategyType, appsv1.RollingUpdateDeploymentStrategyType}))
	}
	return problems
}

func validateDaemonSetStrategy(strategy *appsv1.DaemonSetUpdateStrategy, path *field.Path) (problems field.ErrorList) {
	switch strategy.Type {
	case appsv1.OnDeleteDaemonSetStrategyType:
		return nil
	case appsv1.RollingUpdateDaemonSetStrategyType:
	default:
		return field.ErrorList{field.NotSupported(path, strategy,
			[]appsv1.DaemonSetUpdateStrategyType{appsv1.RollingUpdateDaemonSetStrategyType, appsv1.OnDeleteDaemonSetStrategyType})}
	}
	rolling, at := strategy.RollingUpdate, path.Child("rollingUpdate")
	unavailable, surge := at.Child("maxUnavailable"), at.Child("maxSurge")
	problems = append(problems, countOrPercent(*rolling.MaxUnavailable, unavailable)...)
	problems = append(problems, countOrPercent(*rolling.MaxSurge, surge)...)
	problems = append(problems, notAboveAll(*rolling.MaxUnavailable, unavailable)...)
	problems = append(problems, notAboveAll(*rolling.MaxSurge, surge)...)
	switch less, more := amount(*rolling.MaxUnavailable) != 0, amount(*rolling.MaxSurge) != 0; {
	case less && more:
		problems = append(problems, field.Invalid(surge, *rolling.MaxSurge, "may not be set when maxUnavailable is non-zero"))
	case !less && !more:
		problems = append(problems, field.Required(unavailable, "cannot be 0 when maxSurge is 0"))
	}
	return problems
}

func validateStatefulSetStrategy(strategy *appsv1.StatefulSetUpdateStrategy, path *field.Path) (problems field.ErrorList) {
	rolling, at := strategy.RollingUpdate, path.Child("rollingUpdate")
	switch strategy.Type {
	case appsv1.OnDeleteStatefulSetStrategyType:
		if rolling != nil {
			shown := struct { // kube-apiserver's field names
				Partition      int32
				MaxUnavailable *intstr.IntOrString
			}{ptrTo(rolling.Partition, 0), rolling.MaxUnavailable}
			problems = append(problems, field.Invalid(at, shown, "only allowed for updateStrategy 'RollingUpdate'"))
		}
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if rolling == nil {
			return nil
		}
		problems = append(problems, notNegative(at.Child("partition"), rolling.Partition)...)
		if most := rolling.MaxUnavailable; most != nil {
			problems = append(problems, countOrPercent(*most, at.Child("maxUnavailable"))...)
			if amount(*most) == 0 {
				problems = append(problems, field.Invalid(at.Child("maxUnavailable"), *most, "cannot be 0"))
			}
			problems = append(problems, notAboveAll(*most, at.Child("maxUnavailable"))...)
		}
	default:
		problems = append(problems, field.Invalid(path, strategy, "must be 'RollingUpdate' or 'OnDelete'"))
	}
	return problems
}

// countOrPercent refuses a value that is neither a number of pods nor a percentage.
func countOrPercent(value intstr.IntOrString, path *field.Path) (problems field.ErrorList) {
	if value.Type == intstr.Int {
		return machinery.ValidateNonnegativeField(int64(value.IntVal), path)
	}
	for _, message := range validation.IsValidPercent(value.StrVal) {
		problems = append(problems, field.Invalid(path, value, message))
	}
	return problems
}

// amount returns the number or the percentage.
func amount(value intstr.IntOrString) int {
	if n, ok := percentage(value); ok {
		return n
	}
	return value.IntValue()
}

func percentage(value intstr.IntOrString) (n int, ok bool) {
	if value.Type != intstr.String || len(validation.IsValidPercent(value.StrVal)) > 0 {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(value.StrVal, "%"))
	return n, err == nil
}

func notAboveAll(value intstr.IntOrString, path *field.Path) field.ErrorList {
	if n, ok := percentage(value); ok && n > 100 {
		return field.ErrorList{field.Invalid(path, value, "must not be greater than 100%")}
	}
	return nil
}
