package columns

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var Deployment = resource.NewPrinter("Name Ready Up-to-date Available Age +Containers +Images +Selector", func(d *appsv1.Deployment, now time.Time) []any {
	cells := []any{d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, wanted(d.Spec.Replicas)),
		int64(d.Status.UpdatedReplicas), int64(d.Status.AvailableReplicas), resource.Age(d, now)}
	return append(cells, wide(&d.Spec.Template.Spec, d.Spec.Selector)...)
})

var ReplicaSet = resource.NewPrinter("Name #Desired #Current #Ready Age +Containers +Images +Selector", func(rs *appsv1.ReplicaSet, now time.Time) []any {
	cells := []any{rs.Name, wanted(rs.Spec.Replicas), rs.Status.Replicas, rs.Status.ReadyReplicas, resource.Age(rs, now)}
	return append(cells, wide(&rs.Spec.Template.Spec, rs.Spec.Selector)...)
})

// wanted returns the number of replicas in the spec, or one if the field is not set.
func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

// wide returns the cells that -o wide adds for a workload.
func wide(spec *corev1.PodSpec, selector *metav1.LabelSelector) []any {
	names, images := containers(spec)
	return []any{names, images, metav1.FormatLabelSelector(selector)}
}

func containers(spec *corev1.PodSpec) (names, images string) {
	var all, from []string
	for _, c := range spec.Containers {
		all, from = append(all, c.Name), append(from, c.Image)
	}
	return strings.Join(all, ","), strings.Join(from, ",")
}

var DaemonSet = resource.NewPrinter("Name #Desired #Current #Ready #Up-to-date #Available Node_Selector Age +Containers +Images +Selector", func(ds *appsv1.DaemonSet, now time.Time) []any {
	cells := []any{ds.Name, ds.Status.DesiredNumberScheduled, ds.Status.CurrentNumberScheduled, ds.Status.NumberReady,
		ds.Status.UpdatedNumberScheduled, ds.Status.NumberAvailable, orNone(labels.Set(ds.Spec.Template.Spec.NodeSelector).String()), resource.Age(ds, now)}
	return append(cells, wide(&ds.Spec.Template.Spec, ds.Spec.Selector)...)
})

var StatefulSet = resource.NewPrinter("Name Ready Age +Containers +Images", func(sts *appsv1.StatefulSet, now time.Time) []any {
	names, images := containers(&sts.Spec.Template.Spec)
	return []any{sts.Name, fmt.Sprintf("%d/%d", sts.Status.ReadyReplicas, wanted(sts.Spec.Replicas)), resource.Age(sts, now), names, images}
})

var ReplicationController = resource.NewPrinter("Name #Desired #Current #Ready Age +Containers +Images +Selector", func(rc *corev1.ReplicationController, now time.Time) []any {
	names, images := "", ""
	if rc.Spec.Template != nil {
		names, images = containers(&rc.Spec.Template.Spec)
	}
	return []any{rc.Name, wanted(rc.Spec.Replicas), rc.Status.Replicas, rc.Status.ReadyReplicas, resource.Age(rc, now), names, images, labels.Set(rc.Spec.Selector).String()}
})

var Job = resource.NewPrinter("Name Status Completions Duration Age +Containers +Images +Selector", func(job *batchv1.Job, now time.Time) []any {
	took := ""
	switch {
	case job.Status.StartTime == nil:
	case job.Status.CompletionTime == nil:
		took = resource.Since(*job.Status.StartTime, now)
	default:
		took = resource.Since(*job.Status.StartTime, job.Status.CompletionTime.Time)
	}
	cells := []any{job.Name, jobStatus(job), completions(job), took, resource.Age(job, now)}
	return append(cells, wide(&job.Spec.Template.Spec, job.Spec.Selector)...)
})

func jobStatus(job *batchv1.Job) string {
	has := func(kind batchv1.JobConditionType) bool {
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
	}
	switch {
	case has(batchv1.JobComplete), has(batchv1.JobFailed): // these take precedence over the deletion
	case job.DeletionTimestamp != nil:
		return "Terminating"
	}
	for _, kind := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if has(kind) {
			return string(kind)
		}
	}
	return "Running"
}

func completions(job *batchv1.Job) string {
	switch parallel := job.Spec.Parallelism; {
	case job.Spec.Completions != nil:
		return fmt.Sprintf("%d/%d", job.Status.Succeeded, *job.Spec.Completions)
	case parallel != nil && *parallel > 1:
		return fmt.Sprintf("%d/1 of %d", job.Status.Succeeded, *parallel)
	}
	return fmt.Sprintf("%d/1", job.Status.Succeeded)
}

var CronJob = resource.NewPrinter("Name Schedule Timezone ?Suspend #Active Last_Schedule Age +Containers +Images +Selector", func(job *batchv1.CronJob, now time.Time) []any {
	zone, suspended, last := "<none>", "False", "<none>"
	if job.Spec.TimeZone != nil {
		zone = *job.Spec.TimeZone
	}
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		suspended = "True"
	}
	if job.Status.LastScheduleTime != nil {
		last = resource.Since(*job.Status.LastScheduleTime, now)
	}
	cells := []any{job.Name, job.Spec.Schedule, zone, suspended, len(job.Status.Active), last, resource.Age(job, now)}
	return append(cells, wide(&job.Spec.JobTemplate.Spec.Template.Spec, job.Spec.JobTemplate.Spec.Selector)...)
})

var ControllerRevision = resource.NewPrinter("Name Controller Revision Age", func(revision *appsv1.ControllerRevision, now time.Time) []any {
	controller := "<none>"
	if owner := metav1.GetControllerOf(revision); owner != nil {
		group, _, _ := strings.Cut(owner.APIVersion, "/")
		controller = strings.ToLower(owner.Kind+"."+group) + "/" + owner.Name
	}
	return []any{revision.Name, controller, revision.Revision, resource.Age(revision, now)}
})

var DisruptionBudget = resource.NewPrinter("Name Min_Available Max_Unavailable #Allowed_Disruptions Age", func(pdb *policyv1.PodDisruptionBudget, now time.Time) []any {
	orNA := func(n *intstr.IntOrString) string {
		if n == nil {
			return "N/A"
		}
		return n.String()
	}
	return []any{pdb.Name, orNA(pdb.Spec.MinAvailable), orNA(pdb.Spec.MaxUnavailable), pdb.Status.DisruptionsAllowed, resource.Age(pdb, now)}
})
