package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/controllers"
)

var cronWorkers = append([]string{"cronjob"}, workers...)

// every returns a CronJob with a schedule and a job; everything else is left to the defaults.
func every(schedule string, job *batchv1.Job) *batchv1.CronJob {
	return &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "backup"}, Spec: batchv1.CronJobSpec{Schedule: schedule,
		JobTemplate: batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"kind": "backup"}}, Spec: job.Spec}}}
}

func (r rig) schedules(c *batchv1.CronJob) {
	r.Helper()
	*c = *must(r.kube.BatchV1().CronJobs("default").Create(r.Context(), c, metav1.CreateOptions{}))(r)
}

func TestCronJobsCreateJobs(t *testing.T) {
	t.Parallel()
	r := start(t, controllers.Options{}, cronWorkers...)
	c := every("@every 1s", task("")) // a test cannot wait for a minute
	c.Spec.TimeZone = new("Europe/Berlin")
	r.schedules(c)
	c = one(r, "cronjobs", "default", "backup", func(c *batchv1.CronJob) bool { return c.Status.LastSuccessfulTime != nil && len(c.Status.Active) == 0 })
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	minute := c.Status.LastScheduleTime.Unix() / 60 // of which later seconds have no Job of their own
	job := must(r.kube.BatchV1().Jobs("default").Get(t.Context(), fmt.Sprintf("backup-%d", minute), metav1.GetOptions{}))(r)
	scheduled := job.Annotations["batch.kubernetes.io/cronjob-scheduled-timestamp"]
	due, err := time.Parse(time.RFC3339, scheduled)
	if err != nil || due.Unix()/60 != minute || due.In(zone).Format(time.RFC3339) != scheduled || !metav1.IsControlledBy(job, c) || job.Labels["kind"] != "backup" {
		t.Errorf("job %+v, %v", job.ObjectMeta, err)
	}
}

// fromCron returns a Job of a CronJob, as kubectl create job --from makes it.
func fromCron(c *batchv1.CronJob, job *batchv1.Job) *batchv1.Job {
	job.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))}
	return job
}

func TestCronJobsKeepAHistory(t *testing.T) {
	t.Parallel()
	r := start(t, controllers.Options{}, cronWorkers...)
	c := every("@yearly", task(""))
	c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit = new(int32(2)), new(int32(0))
	r.schedules(c)
	failing := task("failing", "windtunnel.dev/exit-code", "1")
	failing.Spec.BackoffLimit = new(int32(0))
	r.runJob(fromCron(c, failing))
	for i := range 3 {
		r.runJob(fromCron(c, task(fmt.Sprint("good-", i))))
		r.finishes(fmt.Sprint("good-", i), completed)
	}
	until(r, "two jobs", r.watch("jobs", "default"), func(all map[string]*batchv1.Job) bool {
		return len(all) == 2 && all["default/failing"] == nil && all["default/good-2"] != nil
	})
	one(r, "cronjobs", "default", "backup", func(c *batchv1.CronJob) bool { return c.Status.LastSuccessfulTime != nil && len(c.Status.Active) == 0 })
}

// While a Job runs, Forbid starts no other and Replace ends it.
func TestCronJobConcurrency(t *testing.T) {
	t.Parallel()
	for policy, want := range map[batchv1.ConcurrencyPolicy]string{batchv1.ForbidConcurrent: "JobAlreadyActive", batchv1.ReplaceConcurrent: "SuccessfulDelete"} {
		r := start(t, controllers.Options{}, cronWorkers...)
		c := every("@every 2s", task("", "windtunnel.dev/run-for", "1h"))
		c.Spec.ConcurrencyPolicy, c.Spec.Suspend = policy, new(true)
		r.schedules(c)
		r.runJob(fromCron(c, task("running", "windtunnel.dev/run-for", "1h")))
		one(r, "cronjobs", "default", "backup", func(c *batchv1.CronJob) bool {
			return len(c.Status.Active) == 1 && c.Status.Active[0].Name == "running"
		})
		c.Spec.Suspend = new(false)
		must(r.kube.BatchV1().CronJobs("default").Patch(t.Context(), "backup", "application/merge-patch+json", []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{}))(r)
		r.event(want)
		jobs := must(r.kube.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{}))(r)
		runs := slices.ContainsFunc(jobs.Items, func(j batchv1.Job) bool { return j.Name == "running" && j.DeletionTimestamp == nil })
		if runs != (policy == batchv1.ForbidConcurrent) {
			t.Errorf("with %s the earlier job runs: %v", policy, runs)
		}
	}
}

func TestSuspendedCronJobs(t *testing.T) {
	t.Parallel()
	r := start(t, controllers.Options{}, cronWorkers...)
	c := every("@every 1s", task(""))
	c.Spec.Suspend = new(true)
	r.schedules(c)
	// A Job of another CronJob with the same schedule shows that the time has come.
	other := every("@every 1s", task(""))
	other.Name = "other"
	r.schedules(other)
	one(r, "cronjobs", "default", "other", func(c *batchv1.CronJob) bool { return c.Status.LastSuccessfulTime != nil })
	if c = must(r.kube.BatchV1().CronJobs("default").Get(t.Context(), "backup", metav1.GetOptions{}))(r); c.Status.LastScheduleTime != nil {
		t.Errorf("a suspended CronJob started a Job at %v", c.Status.LastScheduleTime)
	}
}

// A schedule that no day matches is reported, and not tried again.
func TestSchedulesThatNeverCome(t *testing.T) {
	t.Parallel()
	r := start(t, controllers.Options{}, cronWorkers...)
	r.schedules(every("0 0 30 2 *", task("")))
	if e := r.event("InvalidSchedule"); !strings.Contains(e.Message, `"0 0 30 2 *"`) {
		t.Errorf("event %q", e.Message)
	}
}

// The Job of a due time is neither replaced nor created again if the status does not show it yet.
func TestCronJobsKnowTheirLatestJob(t *testing.T) {
	t.Parallel()
	r := startAlone(t)
	c := every("0 0 1 1 *", task("")) // no other time comes due while the test runs
	c.Spec.TimeZone = new("UTC")
	c.Spec.ConcurrencyPolicy = batchv1.ReplaceConcurrent
	r.schedules(c)
	due := time.Date(time.Now().UTC().Year(), time.January, 1, 0, 0, 0, 0, time.UTC)
	c.Status.LastScheduleTime = new(metav1.NewTime(due.AddDate(-1, 0, 0)))
	must(r.kube.BatchV1().CronJobs("default").UpdateStatus(t.Context(), c, metav1.UpdateOptions{}))(r)
	job := r.runJob(fromCron(c, task(fmt.Sprintf("backup-%d", due.Unix()/60))))
	running := must(controllers.Start(t.Context(), r.api.Config(), controllers.Options{}, "cronjob"))(r)
	t.Cleanup(running.Stop)
	one(r, "cronjobs", "default", "backup", func(c *batchv1.CronJob) bool { return c.Status.LastScheduleTime.Time.Equal(due) })
	if now := must(r.kube.BatchV1().Jobs("default").Get(t.Context(), job.Name, metav1.GetOptions{}))(r); now.UID != job.UID {
		t.Error("the job was replaced")
	}
}
