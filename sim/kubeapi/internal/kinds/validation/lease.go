package validation

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

func Lease(lease, _ *coordinationv1.Lease, _ resource.Cluster) (problems field.ErrorList) {
	path, spec := field.NewPath("spec"), lease.Spec
	if seconds := spec.LeaseDurationSeconds; seconds != nil && *seconds <= 0 {
		problems = append(problems, field.Invalid(path.Child("leaseDurationSeconds"), *seconds, "must be greater than 0"))
	}
	if n := spec.LeaseTransitions; n != nil && *n < 0 {
		problems = append(problems, field.Invalid(path.Child("leaseTransitions"), *n, "must be greater than or equal to 0"))
	}
	strategy := spec.Strategy != nil && *spec.Strategy != ""
	if spec.PreferredHolder != nil && *spec.PreferredHolder != "" && !strategy {
		problems = append(problems, field.Forbidden(path.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return problems
}
