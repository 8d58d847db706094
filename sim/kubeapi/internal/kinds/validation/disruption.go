package validation

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func DisruptionBudget(pdb, _ *policyv1.PodDisruptionBudget, _ resource.Cluster) (problems field.ErrorList) {
	spec, at := &pdb.Spec, field.NewPath("spec")
	if spec.MinAvailable != nil && spec.MaxUnavailable != nil {
		problems = append(problems, field.Invalid(at, *spec, "minAvailable and maxUnavailable cannot be both set"))
	}
	if spec.MinAvailable != nil {
		problems = append(problems, countOrPercent(*spec.MinAvailable, at.Child("minAvailable"))...)
		problems = append(problems, notAboveAll(*spec.MinAvailable, at.Child("minAvailable"))...)
	}
	if spec.MaxUnavailable != nil {
		problems = append(problems, countOrPercent(*spec.MaxUnavailable, at.Child("maxUnavailable"))...)
		problems = append(problems, notAboveAll(*spec.MaxUnavailable, at.Child("maxUnavailable"))...)
	}
	problems = append(problems, validateSelector(spec.Selector, at.Child("selector"))...)
	if policy := spec.UnhealthyPodEvictionPolicy; policy != nil {
		problems = append(problems, oneOf(at.Child("unhealthyPodEvictionPolicy"), *policy, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)...)
	}
	return problems
}
