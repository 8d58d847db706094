package validation

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// The rules of the kinds that keep pods running (pkg/apis/apps/validation at v1.36).

func Deployment(d, old *appsv1.Deployment, _ resource.Cluster) (problems field.ErrorList) {
	if old != nil && unchanged(&d.Spec, &old.Spec) {
		return nil
	}
	spec, at := &d.Spec, field.NewPath("spec")
	problems = append(problems, notNegative(at.Child("replicas"), spec.Replicas)...)
	problems = append(problems, validateSelection(spec.Selector, &spec.Template, at)...)
	problems = append(problems, validateDeploymentStrategy(&spec.Strategy, at.Child("strategy"))...)
	problems = append(problems, notNegative(at.Child("minReadySeconds"), &spec.MinReadySeconds)...)
	problems = append(problems, notNegative(at.Child("revisionHistoryLimit"), spec.RevisionHistoryLimit)...)
	problems = append(problems, notNegative(at.Child("progressDeadlineSeconds"), spec.ProgressDeadlineSeconds)...)
	if deadline := spec.ProgressDeadlineSeconds; deadline != nil && *deadline <= spec.MinReadySeconds {
		problems = append(problems, field.Invalid(at.Child("progressDeadlineSeconds"), *deadline, "must be greater than minReadySeconds"))
	}
	if old != nil {
		problems = append(problems, machinery.ValidateImmutableField(spec.Selector, old.Spec.Selector, at.Child("selector"))...)
	}
	return problems
}

func ReplicaSet(rs, old *appsv1.ReplicaSet, _ resource.Cluster) (problems field.ErrorList) {
	if old != nil && unchanged(&rs.Spec, &old.Spec) {
		return nil
	}
	spec, at := &rs.Spec, field.NewPath("spec")
	problems = append(problems, notNegative(at.Child("replicas"), spec.Replicas)...)
	problems = append(problems, notNegative(at.Child("minReadySeconds"), &spec.MinReadySeconds)...)
	problems = append(problems, validateSelection(spec.Selector, &spec.Template, at)...)
	if old != nil {
		problems = append(problems, machinery.ValidateImmutableField(spec.Selector, old.Spec.Selector, at.Child("selector"))...)
	}
	return problems
}

func DaemonSet(ds, old *appsv1.DaemonSet, _ resource.Cluster) (problems field.ErrorList) {
	if old != nil && unchanged(&ds.Spec, &old.Spec) {
		return nil
	}
	spec, at := &ds.Spec, field.NewPath("spec")
	if old != nil {
		problems = append(problems, machinery.ValidateImmutableField(spec.Selector, old.Spec.Selector, at.Child("selector"))...)
	}
	problems = append(problems, validateSelector(spec.Selector, at.Child("selector"))...)
	if selector, err := metav1.LabelSelectorAsSelector(spec.Selector); err == nil {
		problems = append(problems, mustMatch(selector, &spec.Template, at.Child("template"))...)
	}
	problems = append(problems, notEmpty(spec.Selector, at.Child("selector"), "empty selector is invalid for daemonset")...)
	problems = append(problems, validateLasting(&spec.Template, at.Child("template"), "DaemonSet")...)
	problems = append(problems, notNegative(at.Child("minReadySeconds"), &spec.MinReadySeconds)...)
	problems = append(problems, validateDaemonSetStrategy(&spec.UpdateStrategy, at.Child("updateStrategy"))...)
	return append(problems, notNegative(at.Child("revisionHistoryLimit"), spec.RevisionHistoryLimit)...)
}

func ControllerRevision(revision, old *appsv1.ControllerRevision, _ resource.Cluster) field.ErrorList {
	problems, data := machinery.ValidateNonnegativeField(revision.Revision, field.NewPath("revision")), field.NewPath("data")
	if old != nil {
		return append(problems, machinery.ValidateImmutableField(revision.Data, old.Data, data)...)
	}
	var content any
	switch err := json.Unmarshal(revision.Data.Raw, &content); {
	case len(revision.Data.Raw) == 0:
		return append(problems, field.Required(data, "data is mandatory"))
	case err != nil:
		return append(problems, field.Invalid(data, "<value omitted>", "error parsing data: "+err.Error()))
	case content == nil:
		return append(problems, field.Required(data, "data is mandatory"))
	}
	if _, object := content.(map[string]any); !object {
		problems = append(problems, field.Required(data, "data must be a valid JSON object"))
	}
	return problems
}

// unchanged reports whether the spec of a workload did not change, so that it is still valid.
func unchanged[T any](is, was *T) bool { return equality.Semantic.DeepEqual(is, was) }

// notNegative refuses a negative number; it accepts a missing one.
func notNegative[T ~int32 | ~int64](path *field.Path, n *T) field.ErrorList {
	if n == nil {
		return nil
	}
	return machinery.ValidateNonnegativeField(int64(*n), path)
}
