package validation

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// changeable lists the fields of a pod's spec that may change, as kube-apiserver writes them.
var changeable = []string{"`spec.containers[*].image`", "`spec.initContainers[*].image`", "`spec.activeDeadlineSeconds`",
	"`spec.tolerations` (only additions to existing tolerations)", "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"}

// validatePodChange refuses changes of a pod's spec, except changes of its images and a few other
// fields.
func validatePodChange(is, was *corev1.PodSpec, path *field.Path) (problems field.ErrorList) {
	for _, list := range []struct {
		name    string
		is, was int
	}{{"containers", len(is.Containers), len(was.Containers)}, {"initContainers", len(is.InitContainers), len(was.InitContainers)}} {
		if list.is != list.was {
			return field.ErrorList{field.Forbidden(path.Child(list.name), "pod updates may not add or remove containers")}
		}
	}
	problems = append(problems, validateDeadline(is.ActiveDeadlineSeconds, was.ActiveDeadlineSeconds, path.Child("activeDeadlineSeconds"))...)
	problems = append(problems, validateTolerationChange(is.Tolerations, was.Tolerations, path.Child("tolerations"))...)
	munged := is.DeepCopy()
	for i := range munged.Containers {
		munged.Containers[i].Image = was.Containers[i].Image
	}
	for i := range munged.InitContainers {
		munged.InitContainers[i].Image = was.InitContainers[i].Image
	}
	munged.ActiveDeadlineSeconds, munged.Tolerations, munged.SchedulingGates = was.ActiveDeadlineSeconds, was.Tolerations, was.SchedulingGates
	if grace := was.TerminationGracePeriodSeconds; grace != nil && *grace < 0 && *munged.TerminationGracePeriodSeconds == 1 {
		munged.TerminationGracePeriodSeconds = grace
	}
	if !equality.Semantic.DeepEqual(munged, was) {
		problems = append(problems, field.Forbidden(path,
			"pod updates may not change fields other than "+strings.Join(changeable, ",")+"\n"+diff.Diff(*was, *munged)))
	}
	return problems
}

func validateDeadline(is, was *int64, path *field.Path) field.ErrorList {
	switch {
	case is == nil && was != nil:
		return field.ErrorList{field.Invalid(path, is, "must not update from a positive integer to nil value")}
	case is == nil:
		return nil
	case *is < 0 || *is > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, *is, validation.InclusiveRangeError(0, math.MaxInt32))}
	case was != nil && *was < *is:
		return field.ErrorList{field.Invalid(path, *is, "must be less than or equal to previous value")}
	}
	return nil
}

func validateTolerationChange(is, was []corev1.Toleration, path *field.Path) field.ErrorList {
	for _, old := range was {
		old.TolerationSeconds = nil // the only field that may change
		kept := slices.ContainsFunc(is, func(t corev1.Toleration) bool {
			t.TolerationSeconds = nil
			return t == old
		})
		if !kept {
			return field.ErrorList{field.Forbidden(path, "existing toleration can not be modified except its tolerationSeconds")}
		}
	}
	return nil
}
