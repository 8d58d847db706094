package controllers

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// count updates the counters of the status from the pods. A pod that has ended and still has its
// finalizer is listed as uncounted; once the finalizer is gone, it moves to the counter.
func (w *work) count() {
	status := &w.Status
	before := ptr.Deref(status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
	now := &batchv1.UncountedTerminatedPods{}
	status.Active, status.Terminating, status.Ready = 0, new(int32), new(int32)
	for _, pod := range w.pods {
		switch {
		case !isTracked(pod):
		case pod.Status.Phase == corev1.PodSucceeded:
			now.Succeeded = append(now.Succeeded, pod.UID)
		case w.hasFailed(pod):
			now.Failed = append(now.Failed, pod.UID)
		}
		switch {
		case isOver(pod):
		case pod.DeletionTimestamp != nil:
			*status.Terminating++
		default:
			status.Active++
			if isReady(pod) {
				*status.Ready++
			}
		}
	}
	status.Succeeded += missingFrom(now.Succeeded, before.Succeeded)
	status.Failed += missingFrom(now.Failed, before.Failed)
	status.UncountedTerminatedPods = now
	if w.indexed() {
		w.countIndexes()
	}
}

// missingFrom returns how many of the earlier UIDs are no longer in the list.
func missingFrom(list, earlier []types.UID) (n int32) {
	for _, uid := range earlier {
		if !slices.Contains(list, uid) {
			n++
		}
	}
	return n
}

// hasFailed reports whether a pod counts as a failure. A terminating pod does, unless the Job
// replaces only pods that have ended.
func (w *work) hasFailed(pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return pod.DeletionTimestamp != nil && pod.Status.Phase != corev1.PodSucceeded &&
		ptr.Deref(w.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.TerminatingOrFailed
}

func (w *work) succeeded() int {
	return int(w.Status.Succeeded) + len(w.Status.UncountedTerminatedPods.Succeeded)
}

// failures returns the number of failed pods.
func (w *work) failures() int {
	return int(w.Status.Failed) + len(w.Status.UncountedTerminatedPods.Failed)
}

// restarts returns how often containers of active pods were restarted.
func (w *work) restarts() (n int) {
	for _, pod := range w.active() {
		for _, status := range pod.Status.ContainerStatuses {
			n += int(status.RestartCount)
		}
	}
	return n
}

// exceedsBackoffLimit reports whether the Job has failed: if more pods have failed than the limit, or if
// there were as many restarts as the limit. A limit of 0 allows no restart.
func (w *work) exceedsBackoffLimit() bool {
	limit := int(ptr.Deref(w.Spec.BackoffLimit, 6))
	return w.failures() > limit || w.restarts() >= max(limit, 1)
}

// judge starts the Job, suspends or resumes it, and decides whether it has succeeded or failed.
func (j *job) judge(w *work) {
	if w.ending() {
		return
	}
	switch {
	case w.suspended():
		if !w.is(batchv1.JobSuspended) {
			w.set(batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended")
			j.events.Event(w.Job, corev1.EventTypeNormal, "Suspended", "Job suspended")
		}
		w.Status.StartTime = nil
	case w.is(batchv1.JobSuspended):
		w.set(batchv1.JobSuspended, corev1.ConditionFalse, "JobResumed", "Job resumed")
		j.events.Event(w.Job, corev1.EventTypeNormal, "Resumed", "Job resumed")
		fallthrough
	case w.Status.StartTime == nil:
		w.Status.StartTime = ptr.To(metav1.Now())
		j.warnOfIgnored(w.Job)
	}
	if w.exceedsBackoffLimit() {
		w.set(batchv1.JobFailureTarget, corev1.ConditionTrue, batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit")
		return
	}
	if limit := w.Spec.ActiveDeadlineSeconds; limit != nil && w.Status.StartTime != nil {
		left := time.Until(w.Status.StartTime.Add(time.Duration(*limit) * time.Second))
		if left <= 0 {
			w.set(batchv1.JobFailureTarget, corev1.ConditionTrue, batchv1.JobReasonDeadlineExceeded, "Job was active longer than specified deadline")
			return
		}
		j.queue.queue.AddAfter(keyOf(w.Namespace, w.Name), left)
	}
	if w.isDone() {
		w.set(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods")
	}
}

// warnOfIgnored records an event for each field that is not simulated.
func (j *job) warnOfIgnored(of *batchv1.Job) {
	for field, set := range map[string]bool{
		"spec.successPolicy": of.Spec.SuccessPolicy != nil, "spec.podFailurePolicy": of.Spec.PodFailurePolicy != nil,
		"spec.backoffLimitPerIndex": of.Spec.BackoffLimitPerIndex != nil, "spec.maxFailedIndexes": of.Spec.MaxFailedIndexes != nil} {
		if set {
			j.events.Eventf(of, corev1.EventTypeWarning, "NotSimulated", "The simulated cluster ignores %s", field)
		}
	}
}

// isDone reports whether enough pods have succeeded: as many as the Job has completions or, for a
// Job without them, at least one when no pod is active.
func (w *work) isDone() bool {
	if w.Spec.Completions == nil {
		return w.succeeded() > 0 && len(w.active()) == 0
	}
	return w.succeeded() >= int(*w.Spec.Completions)
}

// complete adds the final condition, when no pod is left that could still change the result: all
// pods have ended, and the status counts them. It copies the condition that decided the result.
func (w *work) complete() {
	uncounted := w.Status.UncountedTerminatedPods
	if !w.ending() || w.Status.Active > 0 || *w.Status.Terminating > 0 || len(uncounted.Succeeded)+len(uncounted.Failed) > 0 {
		return
	}
	if target := w.conditionOf(batchv1.JobFailureTarget); target != nil {
		w.set(batchv1.JobFailed, corev1.ConditionTrue, target.Reason, target.Message)
		return
	}
	met := w.conditionOf(batchv1.JobSuccessCriteriaMet)
	w.set(batchv1.JobComplete, corev1.ConditionTrue, met.Reason, met.Message)
	w.Status.CompletionTime = ptr.To(metav1.Now())
}

// ending reports whether the Job's result is decided.
func (w *work) ending() bool {
	return w.is(batchv1.JobSuccessCriteriaMet) || w.is(batchv1.JobFailureTarget)
}

func isFinished(of *batchv1.Job) bool {
	w := &work{Job: of}
	return w.is(batchv1.JobComplete) || w.is(batchv1.JobFailed)
}

func (w *work) suspended() bool { return ptr.Deref(w.Spec.Suspend, false) }

func (w *work) is(kind batchv1.JobConditionType) bool {
	c := w.conditionOf(kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

func (w *work) conditionOf(kind batchv1.JobConditionType) *batchv1.JobCondition {
	i := slices.IndexFunc(w.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &w.Status.Conditions[i]
}

func (w *work) set(kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
	now := metav1.Now()
	next := batchv1.JobCondition{Type: kind, Status: status, Reason: reason, Message: message, LastProbeTime: now, LastTransitionTime: now}
	w.Status.Conditions = slices.DeleteFunc(slices.Clone(w.Status.Conditions), func(c batchv1.JobCondition) bool { return c.Type == kind })
	w.Status.Conditions = append(w.Status.Conditions, next)
}

// backoff returns the time until a new pod may start after the latest failure.
func (w *work) backoff(now time.Time) time.Duration {
	failures := w.failures()
	if failures == 0 {
		return 0
	}
	latest := time.Time{}
	for _, pod := range w.pods {
		if c := condition(pod, corev1.PodReady); pod.Status.Phase == corev1.PodFailed && c != nil && c.LastTransitionTime.After(latest) {
			latest = c.LastTransitionTime.Time
		}
	}
	return latest.Add(retryDelay(failures)).Sub(now)
}
