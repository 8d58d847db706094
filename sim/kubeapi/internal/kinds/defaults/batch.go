package defaults

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

const defaultBackoffLimit = 6

// Job sets the defaults of a job. Its labels default to those of its pod template.
func Job(job, _ *batchv1.Job) {
	spec := &job.Spec
	defaultPodSpec(&spec.Template.Spec)
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	setPointer(&spec.Parallelism, 1)
	if spec.BackoffLimitPerIndex != nil {
		setPointer(&spec.BackoffLimit, math.MaxInt32)
	}
	setPointer(&spec.BackoffLimit, defaultBackoffLimit)
	if len(job.Labels) == 0 {
		job.Labels = spec.Template.Labels
	}
	setPointer(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	setPointer(&spec.Suspend, false)
	setPointer(&spec.ManualSelector, false)
	if spec.PodFailurePolicy == nil {
		setPointer(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
		return
	}
	setPointer(&spec.PodReplacementPolicy, batchv1.Failed)
	for i := range spec.PodFailurePolicy.Rules {
		conditions := spec.PodFailurePolicy.Rules[i].OnPodConditions
		for j := range conditions {
			setDefault(&conditions[j].Status, corev1.ConditionTrue)
		}
	}
}

// PrepareJob gives a new job a selector for its own pods, unless the client chooses one.
func PrepareJob(job, old *batchv1.Job, _ resource.Cluster) {
	spec := &job.Spec
	if old != nil || *spec.ManualSelector {
		return
	}
	if spec.Template.Labels == nil {
		spec.Template.Labels = map[string]string{}
	}
	// A job without labels of its own shares this map, so it gets these labels as well.
	for name, value := range map[string]string{batchv1.JobNameLabel: job.Name, "job-name": job.Name,
		batchv1.ControllerUidLabel: string(job.UID), "controller-uid": string(job.UID)} {
		setEntry(spec.Template.Labels, name, value)
	}
	setPointer(&spec.Selector, metav1.LabelSelector{})
	if spec.Selector.MatchLabels == nil {
		spec.Selector.MatchLabels = map[string]string{}
	}
	setEntry(spec.Selector.MatchLabels, batchv1.ControllerUidLabel, string(job.UID))
}

// setEntry sets an entry that is missing. Validation refuses a wrong entry of the client.
func setEntry(of map[string]string, name, value string) {
	if _, there := of[name]; !there {
		of[name] = value
	}
}

func CronJob(job, _ *batchv1.CronJob) {
	defaultPodSpec(&job.Spec.JobTemplate.Spec.Template.Spec)
	setDefault(&job.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
	setPointer(&job.Spec.Suspend, false)
	setPointer(&job.Spec.SuccessfulJobsHistoryLimit, 3)
	setPointer(&job.Spec.FailedJobsHistoryLimit, 1)
}
