package validation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// loose lists the groups whose kinds accept finalizers with any name. The other groups follow the
// rules of the core group (pkg/apis/core/validation).
var loose = []string{"coordination.k8s.io", "admissionregistration.k8s.io", "apiextensions.k8s.io", "rbac.authorization.k8s.io"}

// ownFinalizers lists Kubernetes' own finalizers, which need no domain in their names.
var ownFinalizers = []string{string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents}

// Finalizers checks that the name of each finalizer has a domain.
func Finalizers(res *resource.Resource, m *metav1.ObjectMeta) (problems field.ErrorList) {
	if res.Custom != nil || slices.Contains(loose, res.Group) {
		return nil
	}
	for i, name := range m.Finalizers {
		problems = append(problems, qualified(name, field.NewPath("metadata", "finalizers").Index(i))...)
	}
	return problems
}

func qualified(finalizer string, path *field.Path) field.ErrorList {
	if strings.Contains(finalizer, "/") || slices.Contains(ownFinalizers, finalizer) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified")}
}

func Namespace(ns, old *corev1.Namespace, _ resource.Cluster) (problems field.ErrorList) {
	path := field.NewPath("spec", "finalizers")
	for i, name := range ns.Spec.Finalizers {
		at := path
		if old != nil { // an update through the finalize subresource
			at = path.Index(i)
		}
		problems = append(problems, machinery.ValidateFinalizerName(string(name), at)...)
		problems = append(problems, qualified(string(name), at)...)
	}
	return problems
}
