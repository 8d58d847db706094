package validation

import (
	corev1 "k8s.io/api/core/v1"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The rules for the pod template of a workload, and for the selector that must match it.

// validateSelection validates the selector and the pod template of a Deployment or ReplicaSet.
// kube-apiserver names Deployments and ReplicaSets in the messages about both.
func validateSelection(selector *metav1.LabelSelector, template *corev1.PodTemplateSpec, at *field.Path) (problems field.ErrorList) {
	problems = append(problems, validateNeededSelector(selector, at.Child("selector"), "empty selector is invalid for deployment")...)
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return append(problems, field.Invalid(at.Child("selector"), selector, "invalid label selector"))
	}
	problems = append(problems, mustMatch(parsed, template, at.Child("template"))...)
	return append(problems, validateLasting(template, at.Child("template"), "ReplicaSet")...)
}

// validateNeededSelector refuses a missing selector, an invalid one and an empty one; empty is the
// message about the latter.
func validateNeededSelector(selector *metav1.LabelSelector, path *field.Path, empty string) field.ErrorList {
	if selector == nil {
		return field.ErrorList{field.Required(path, "")}
	}
	return append(validateSelector(selector, path), notEmpty(selector, path, empty)...)
}

func validateSelector(selector *metav1.LabelSelector, path *field.Path) field.ErrorList {
	return metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
}

func notEmpty(selector *metav1.LabelSelector, path *field.Path, message string) field.ErrorList {
	if selector == nil || len(selector.MatchLabels)+len(selector.MatchExpressions) > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, selector, message)}
}

func mustMatch(selector labels.Selector, template *corev1.PodTemplateSpec, at *field.Path) field.ErrorList {
	if selector.Empty() || selector.Matches(labels.Set(template.Labels)) {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("metadata", "labels"), template.Labels, "`selector` does not match template `labels`")}
}

// validateLasting validates the template of pods that never end by themselves. kind is the kind of
// the workload.
func validateLasting(template *corev1.PodTemplateSpec, at *field.Path, kind string) (problems field.ErrorList) {
	problems = append(problems, validateTemplate(template, at)...)
	if policy := template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		problems = append(problems, field.NotSupported(at.Child("spec", "restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if template.Spec.ActiveDeadlineSeconds != nil {
		problems = append(problems, field.Forbidden(at.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+kind+" is not Supported"))
	}
	return problems
}

func validateTemplate(template *corev1.PodTemplateSpec, at *field.Path) (problems field.ErrorList) {
	problems = append(problems, metav1validation.ValidateLabels(template.Labels, at.Child("labels"))...)
	problems = append(problems, machinery.ValidateAnnotations(template.Annotations, at.Child("annotations"))...)
	problems = append(problems, validatePodSpec(&template.Spec, at.Child("spec"))...)
	if len(template.Spec.EphemeralContainers) > 0 {
		problems = append(problems, field.Forbidden(at.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template"))
	}
	return problems
}
