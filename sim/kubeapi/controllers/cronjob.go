package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
	_ "time/tzdata" // schedules name time zones, which not every machine has

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	"k8s.io/utils/ptr"
)

var cronJobKind = batchv1.SchemeGroupVersion.WithKind("CronJob")

// cronJob creates the Jobs of CronJobs when they are due, and deletes old finished ones.
type cronJob struct {
	*cluster
	queue    *loop
	cronJobs batchlisters.CronJobLister
	jobs     batchlisters.JobLister
}

func newCronJob(c *cluster) (*loop, error) {
	batch := c.informers.Batch().V1()
	j := &cronJob{cluster: c, cronJobs: batch.CronJobs().Lister(), jobs: batch.Jobs().Lister()}
	l := newLoop(j.sync)
	l.watch(batch.CronJobs().Informer(), ownKey)
	l.watch(batch.Jobs().Informer(), controllerKey("CronJob"))
	j.queue = l
	return l, nil
}

func (j *cronJob) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	cached, err := j.cronJobs.CronJobs(namespace).Get(name)
	if err != nil || cached.DeletionTimestamp != nil {
		return ignoreNotFound(err)
	}
	cj := cached.DeepCopy()
	jobs, err := j.jobsOf(cj)
	if err != nil {
		return err
	}
	j.recordFinished(cj, jobs)
	if err := j.deleteOld(ctx, cj, jobs); err != nil {
		return err
	}
	if !ptr.Deref(cj.Spec.Suspend, false) {
		if err := j.schedule(ctx, cj, jobs); err != nil {
			return err
		}
	}
	if apiequality.Semantic.DeepEqual(cj.Status, cached.Status) {
		return nil
	}
	_, err = j.client.BatchV1().CronJobs(namespace).UpdateStatus(ctx, cj, metav1.UpdateOptions{})
	return ignoreNotFound(err)
}

func (j *cronJob) jobsOf(cj *batchv1.CronJob) ([]*batchv1.Job, error) {
	all, err := j.jobs.Jobs(cj.Namespace).List(labels.Everything())
	if err != nil {
		return nil, err
	}
	var own []*batchv1.Job
	for _, one := range all {
		if metav1.IsControlledBy(one, cj) {
			own = append(own, one)
		}
	}
	return own, nil
}

// schedule creates the Job of the latest due time, if there is one, and queues the CronJob for the
// next one. Earlier due times that were missed are skipped.
func (j *cronJob) schedule(ctx context.Context, cj *batchv1.CronJob, jobs []*batchv1.Job) error {
	schedule, err := cron.ParseStandard(zonePrefix(cj) + cj.Spec.Schedule)
	if err != nil {
		j.events.Eventf(cj, corev1.EventTypeWarning, "UnparseableSchedule", "unparseable schedule %q: %v", cj.Spec.Schedule, err)
		return nil
	}
	now := time.Now()
	due, next := dueTime(schedule, scheduledAfter(cj, now), now)
	if next.IsZero() {
		j.events.Eventf(cj, corev1.EventTypeWarning, "InvalidSchedule", "invalid schedule %q: no time of the next five years matches it", cj.Spec.Schedule)
		return nil
	}
	j.queue.queue.AddAfter(keyOf(cj.Namespace, cj.Name), time.Until(next))
	if due.IsZero() || cj.Status.LastScheduleTime != nil && !due.After(cj.Status.LastScheduleTime.Time) {
		return nil
	}
	if deadline := cj.Spec.StartingDeadlineSeconds; deadline != nil && now.After(due.Add(time.Duration(*deadline)*time.Second)) {
		j.events.Eventf(cj, corev1.EventTypeWarning, "MissSchedule", "Missed scheduled time to start a job: %s", due.UTC().Format(time.RFC1123Z))
		return nil
	}
	if slices.ContainsFunc(jobs, func(of *batchv1.Job) bool { return of.Name == jobName(cj, due) }) {
		cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(due)) // an earlier sync created it, but its status is not in the cache
		return nil
	}
	running := unfinished(jobs)
	switch {
	case len(running) == 0:
	case cj.Spec.ConcurrencyPolicy == batchv1.ForbidConcurrent:
		j.events.Event(cj, corev1.EventTypeNormal, "JobAlreadyActive", "Not starting job because prior execution is running and concurrency policy is Forbid")
		return nil
	case cj.Spec.ConcurrencyPolicy == batchv1.ReplaceConcurrent:
		for _, one := range running {
			if err := j.delete(ctx, cj, one); err != nil {
				return err
			}
		}
		cj.Status.Active = nil
	}
	return j.create(ctx, cj, due)
}

// jobName returns the name of the Job of a due time. It contains the minute, so that a Job that the
// cache does not show yet is not created twice.
func jobName(cj *batchv1.CronJob, due time.Time) string {
	return fmt.Sprintf("%s-%d", cj.Name, due.Unix()/60)
}

// create creates the Job of a due time.
func (j *cronJob) create(ctx context.Context, cj *batchv1.CronJob, due time.Time) error {
	of := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cj.Namespace, Name: jobName(cj, due),
			Labels: cj.Spec.JobTemplate.Labels, Annotations: maps.Clone(cj.Spec.JobTemplate.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(cj, cronJobKind)},
		},
		Spec: cj.Spec.JobTemplate.Spec,
	}
	if zone, err := time.LoadLocation(ptr.Deref(cj.Spec.TimeZone, "UTC")); err == nil { // the schedule was parsed in this zone
		metav1.SetMetaDataAnnotation(&of.ObjectMeta, batchv1.CronJobScheduledTimestampAnnotation, due.In(zone).Format(time.RFC3339))
	}
	made, err := j.client.BatchV1().Jobs(cj.Namespace).Create(ctx, of, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case err != nil:
		j.events.Eventf(cj, corev1.EventTypeWarning, "FailedCreate", "Error creating job: %v", err)
		return err
	}
	j.events.Eventf(cj, corev1.EventTypeNormal, "SuccessfulCreate", "Created job %s", made.Name)
	cj.Status.Active = append(cj.Status.Active, jobRef(made))
	cj.Status.LastScheduleTime = ptr.To(metav1.NewTime(due))
	return nil
}

func (j *cronJob) delete(ctx context.Context, cj *batchv1.CronJob, of *batchv1.Job) error {
	background := metav1.DeletePropagationBackground
	err := j.client.BatchV1().Jobs(of.Namespace).Delete(ctx, of.Name, metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &of.UID}})
	if err == nil {
		j.events.Eventf(cj, corev1.EventTypeNormal, "SuccessfulDelete", "Deleted job %s", of.Name)
	}
	return ignoreNotFound(err)
}

func zonePrefix(cj *batchv1.CronJob) string {
	if cj.Spec.TimeZone == nil {
		return ""
	}
	return "TZ=" + *cj.Spec.TimeZone + " "
}

// scheduledAfter returns the time after which due times count.
func scheduledAfter(cj *batchv1.CronJob, now time.Time) time.Time {
	after := cj.CreationTimestamp.Time
	if cj.Status.LastScheduleTime != nil {
		after = cj.Status.LastScheduleTime.Time
	}
	if deadline := cj.Spec.StartingDeadlineSeconds; deadline != nil {
		if since := now.Add(-time.Duration(*deadline) * time.Second); since.After(after) {
			after = since
		}
	}
	return after
}

// dueTime returns the latest time of a schedule that is after a moment and not after now, or zero,
// and the first one after now, or zero if the schedule never comes again.
func dueTime(schedule cron.Schedule, after, now time.Time) (due, next time.Time) {
	for next = schedule.Next(after); !next.IsZero() && !next.After(now); next = schedule.Next(next) {
		due = next
	}
	return due, next
}
