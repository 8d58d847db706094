package validation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// The rules of jobs (pkg/apis/batch/validation at v1.36), except those about failure and success
// policies.

const (
	oldJobNameLabel       = "job-name"
	oldControllerUIDLabel = "controller-uid"
)

func Job(job, old *batchv1.Job, _ resource.Cluster) (problems field.ErrorList) {
	if old != nil && unchanged(&job.Spec, &old.Spec) {
		return nil
	}
	at := field.NewPath("spec")
	problems = append(problems, validateGeneratedLabels(job)...)
	problems = append(problems, validateSelectingJob(&job.Spec, at)...)
	if old != nil { // kube-apiserver validates the whole job, and then the change
		problems = append(problems, validateSelectingJob(&job.Spec, at)...)
		problems = append(problems, validateJobChange(&job.Spec, &old.Spec, at)...)
	}
	return problems
}

// validateGeneratedLabels refuses a job that asks for a generated selector, but has its own values
// of the labels that the selector needs.
func validateGeneratedLabels(job *batchv1.Job) (problems field.ErrorList) {
	if *job.Spec.ManualSelector || job.Spec.Selector == nil {
		return nil
	}
	template := field.NewPath("spec", "template", "metadata", "labels")
	wanted := labels.Set{oldControllerUIDLabel: string(job.UID), oldJobNameLabel: job.Name,
		batchv1.ControllerUidLabel: string(job.UID), batchv1.JobNameLabel: job.Name}
	for _, name := range []string{oldControllerUIDLabel, oldJobNameLabel, batchv1.ControllerUidLabel, batchv1.JobNameLabel} {
		switch value, there := job.Spec.Template.Labels[name]; {
		case !there:
			problems = append(problems, field.Required(template.Key(name), fmt.Sprintf("must be '%s'", wanted[name])))
		case value != wanted[name]:
			problems = append(problems, field.Invalid(template.Key(name), job.Spec.Template.Labels, fmt.Sprintf("must be '%s'", wanted[name])))
		}
	}
	if selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector); err == nil && !selector.Matches(wanted) {
		problems = append(problems, field.Invalid(field.NewPath("spec", "selector"), job.Spec.Selector, "`selector` not auto-generated"))
	}
	return problems
}

// validateSelectingJob validates a spec with a selector, which the template of a CronJob lacks.
func validateSelectingJob(spec *batchv1.JobSpec, at *field.Path) (problems field.ErrorList) {
	problems = append(problems, validateJobSpec(spec, at)...)
	if spec.Selector == nil {
		problems = append(problems, field.Required(at.Child("selector"), ""))
	}
	problems = append(problems, validateSelector(spec.Selector, at.Child("selector"))...)
	if selector, err := metav1.LabelSelectorAsSelector(spec.Selector); err == nil {
		problems = append(problems, mustMatch(selector, &spec.Template, at.Child("template"))...)
	}
	return problems
}

func validateJobSpec(spec *batchv1.JobSpec, at *field.Path) (problems field.ErrorList) {
	problems = append(problems, notNegative(at.Child("parallelism"), spec.Parallelism)...)
	problems = append(problems, notNegative(at.Child("completions"), spec.Completions)...)
	problems = append(problems, notNegative(at.Child("activeDeadlineSeconds"), spec.ActiveDeadlineSeconds)...)
	problems = append(problems, notNegative(at.Child("backoffLimit"), spec.BackoffLimit)...)
	problems = append(problems, notNegative(at.Child("ttlSecondsAfterFinished"), spec.TTLSecondsAfterFinished)...)
	problems = append(problems, notNegative(at.Child("backoffLimitPerIndex"), spec.BackoffLimitPerIndex)...)
	problems = append(problems, notNegative(at.Child("maxFailedIndexes"), spec.MaxFailedIndexes)...)
	if spec.MaxFailedIndexes != nil && spec.BackoffLimitPerIndex == nil {
		problems = append(problems, field.Required(at.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"))
	}
	if spec.ManagedBy != nil {
		problems = append(problems, validation.IsDomainPrefixedPath(at.Child("managedBy"), *spec.ManagedBy)...)
	}
	problems = append(problems, validateCompletionMode(spec, at)...)
	if policy := spec.PodReplacementPolicy; policy != nil && spec.PodFailurePolicy == nil {
		problems = append(problems, oneOf(at.Child("podReplacementPolicy"), *policy, batchv1.Failed, batchv1.TerminatingOrFailed)...)
	}
	problems = append(problems, validateTemplate(&spec.Template, at.Child("template"))...)
	return append(problems, validateJobRestarts(spec, at.Child("template", "spec", "restartPolicy"))...)
}

func validateCompletionMode(spec *batchv1.JobSpec, at *field.Path) (problems field.ErrorList) {
	switch mode := ptrTo(spec.CompletionMode, batchv1.NonIndexedCompletion); mode {
	case batchv1.NonIndexedCompletion:
		if spec.BackoffLimitPerIndex != nil {
			problems = append(problems, field.Invalid(at.Child("backoffLimitPerIndex"), *spec.BackoffLimitPerIndex, "requires indexed completion mode"))
		}
		if spec.MaxFailedIndexes != nil {
			problems = append(problems, field.Invalid(at.Child("maxFailedIndexes"), *spec.MaxFailedIndexes, "requires indexed completion mode"))
		}
		if spec.SuccessPolicy != nil {
			problems = append(problems, field.Invalid(at.Child("successPolicy"), *spec.SuccessPolicy, "requires indexed completion mode"))
		}
	case batchv1.IndexedCompletion:
		if spec.Completions == nil {
			problems = append(problems, field.Required(at.Child("completions"), "when completion mode is Indexed"))
		} else if most := spec.MaxFailedIndexes; most != nil && *most > *spec.Completions {
			problems = append(problems, field.Invalid(at.Child("maxFailedIndexes"), *most, "must be less than or equal to completions"))
		}
	default:
		problems = append(problems, field.NotSupported(at.Child("completionMode"), spec.CompletionMode,
			[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion}))
	}
	return problems
}

func ptrTo[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// validateJobRestarts refuses the restart policy Always, which is the default of pods, and other
// policies that a job cannot have.
func validateJobRestarts(spec *batchv1.JobSpec, path *field.Path) field.ErrorList {
	switch policy := spec.Template.Spec.RestartPolicy; {
	case policy == corev1.RestartPolicyAlways || policy == "":
		return field.ErrorList{field.Required(path, `valid values: "OnFailure", "Never"`)}
	case policy != corev1.RestartPolicyOnFailure && policy != corev1.RestartPolicyNever:
		return field.ErrorList{field.NotSupported(path, policy, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever})}
	case spec.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		return field.ErrorList{field.Invalid(path, policy, `only "Never" is supported when podFailurePolicy is specified`)}
	}
	return nil
}

func validateJobChange(is, was *batchv1.JobSpec, at *field.Path) (problems field.ErrorList) {
	indexed := ptrTo(is.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
	switch {
	case !indexed:
		problems = append(problems, machinery.ValidateImmutableField(is.Completions, was.Completions, at.Child("completions"))...)
	case is.Completions != nil && !equality.Semantic.DeepEqual(is.Completions, was.Completions) && *is.Completions != *is.Parallelism:
		problems = append(problems, field.Invalid(at.Child("completions"), is.Completions, "can only be modified in tandem with spec.parallelism"))
	}
	problems = append(problems, machinery.ValidateImmutableField(is.Selector, was.Selector, at.Child("selector"))...)
	if !ptrTo(was.Suspend, false) { // a suspended job may still change its template
		problems = append(problems, machinery.ValidateImmutableField(&is.Template, &was.Template, at.Child("template"))...)
	}
	for _, f := range []struct {
		name    string
		is, was any
	}{{"completionMode", is.CompletionMode, was.CompletionMode}, {"podFailurePolicy", is.PodFailurePolicy, was.PodFailurePolicy},
		{"backoffLimitPerIndex", is.BackoffLimitPerIndex, was.BackoffLimitPerIndex}, {"managedBy", is.ManagedBy, was.ManagedBy},
		{"successPolicy", is.SuccessPolicy, was.SuccessPolicy}} {
		problems = append(problems, machinery.ValidateImmutableField(f.is, f.was, at.Child(f.name))...)
	}
	return problems
}
