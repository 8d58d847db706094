package controllers

import (
	"cmp"
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func unfinished(jobs []*batchv1.Job) []*batchv1.Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(of *batchv1.Job) bool { return isFinished(of) || of.DeletionTimestamp != nil })
}

func jobRef(of *batchv1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: jobKind.GroupVersion().String(), Kind: jobKind.Kind, Namespace: of.Namespace, Name: of.Name,
		UID: of.UID, ResourceVersion: of.ResourceVersion}
}

// recordFinished updates the list of active Jobs and the time of the last success.
func (j *cronJob) recordFinished(cj *batchv1.CronJob, jobs []*batchv1.Job) {
	was := cj.Status.Active
	cj.Status.Active = nil
	running := unfinished(jobs)
	for _, ref := range was {
		if slices.ContainsFunc(running, func(of *batchv1.Job) bool { return of.UID == ref.UID }) {
			cj.Status.Active = append(cj.Status.Active, ref)
		}
	}
	for _, of := range running {
		if !slices.ContainsFunc(was, func(ref corev1.ObjectReference) bool { return ref.UID == of.UID }) {
			cj.Status.Active = append(cj.Status.Active, jobRef(of))
		}
	}
	for _, of := range jobs {
		if !isFinished(of) {
			continue
		}
		if slices.ContainsFunc(was, func(ref corev1.ObjectReference) bool { return ref.UID == of.UID }) {
			j.events.Eventf(cj, corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: %s, condition: %s", of.Name, resultOf(of))
		}
		if last := cj.Status.LastSuccessfulTime; resultOf(of) == batchv1.JobComplete && of.Status.CompletionTime != nil &&
			(last == nil || last.Before(of.Status.CompletionTime)) {
			cj.Status.LastSuccessfulTime = of.Status.CompletionTime
		}
	}
}

// resultOf returns the final condition of a finished Job.
func resultOf(of *batchv1.Job) batchv1.JobConditionType {
	if w := (&work{Job: of}); w.is(batchv1.JobFailed) {
		return batchv1.JobFailed
	}
	return batchv1.JobComplete
}

// deleteOld deletes the oldest finished Jobs beyond the limits of the history.
func (j *cronJob) deleteOld(ctx context.Context, cj *batchv1.CronJob, jobs []*batchv1.Job) error {
	limits := map[batchv1.JobConditionType]int32{
		batchv1.JobComplete: ptr.Deref(cj.Spec.SuccessfulJobsHistoryLimit, 3),
		batchv1.JobFailed:   ptr.Deref(cj.Spec.FailedJobsHistoryLimit, 1),
	}
	for result, limit := range limits {
		old := slices.DeleteFunc(slices.Clone(jobs), func(of *batchv1.Job) bool {
			return !isFinished(of) || resultOf(of) != result || of.DeletionTimestamp != nil
		})
		slices.SortFunc(old, func(a, b *batchv1.Job) int {
			return cmp.Or(startOf(a).Compare(startOf(b).Time), cmp.Compare(a.Name, b.Name))
		})
		for _, of := range old[:max(0, len(old)-int(limit))] {
			if err := j.delete(ctx, cj, of); err != nil {
				return err
			}
		}
	}
	return nil
}

func startOf(of *batchv1.Job) metav1.Time {
	return ptr.Deref(of.Status.StartTime, of.CreationTimestamp)
}
