package kubeapi

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var deploymentPrinter = print("Name Ready Up-to-date Available Age", func(d *appsv1.Deployment, now time.Time) []any {
	return []any{d.Name, fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, wanted(d.Spec.Replicas)),
		d.Status.UpdatedReplicas, d.Status.AvailableReplicas, age(d, now)}
})

var replicaSetPrinter = print("Name Desired Current Ready Age", func(rs *appsv1.ReplicaSet, now time.Time) []any {
	return []any{rs.Name, wanted(rs.Spec.Replicas), rs.Status.Replicas, rs.Status.ReadyReplicas, age(rs, now)}
})

// wanted is the number of replicas asked for: one if nobody said.
func wanted(replicas *int32) int32 {
	if replicas == nil {
		return 1
	}
	return *replicas
}

var daemonSetPrinter = print("Name Desired Current Ready Up-to-date Available Node_Selector Age", func(ds *appsv1.DaemonSet, now time.Time) []any {
	return []any{ds.Name, ds.Status.DesiredNumberScheduled, ds.Status.CurrentNumberScheduled, ds.Status.NumberReady,
		ds.Status.UpdatedNumberScheduled, ds.Status.NumberAvailable, orNone(labels.Set(ds.Spec.Template.Spec.NodeSelector).String()), age(ds, now)}
})

var statefulSetPrinter = print("Name Ready Age", func(sts *appsv1.StatefulSet, now time.Time) []any {
	return []any{sts.Name, fmt.Sprintf("%d/%d", sts.Status.ReadyReplicas, wanted(sts.Spec.Replicas)), age(sts, now)}
})

var replicationControllerPrinter = print("Name Desired Current Ready Age", func(rc *corev1.ReplicationController, now time.Time) []any {
	return []any{rc.Name, wanted(rc.Spec.Replicas), rc.Status.Replicas, rc.Status.ReadyReplicas, age(rc, now)}
})

var jobPrinter = print("Name Status Completions Duration Age", func(job *batchv1.Job, now time.Time) []any {
	status, took := "Running", ""
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue && slices.Contains([]batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuspended}, c.Type) {
			status = string(c.Type)
		}
	}
	switch {
	case job.Status.StartTime == nil:
	case job.Status.CompletionTime == nil:
		took = since(*job.Status.StartTime, now)
	default:
		took = since(*job.Status.StartTime, job.Status.CompletionTime.Time)
	}
	return []any{job.Name, status, fmt.Sprintf("%d/%d", job.Status.Succeeded, wanted(job.Spec.Completions)), took, age(job, now)}
})

var cronJobPrinter = print("Name Schedule Timezone Suspend Active Last_Schedule Age", func(job *batchv1.CronJob, now time.Time) []any {
	zone, suspended, last := "<none>", "False", "<none>"
	if job.Spec.TimeZone != nil {
		zone = *job.Spec.TimeZone
	}
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		suspended = "True"
	}
	if job.Status.LastScheduleTime != nil {
		last = since(*job.Status.LastScheduleTime, now)
	}
	return []any{job.Name, job.Spec.Schedule, zone, suspended, len(job.Status.Active), last, age(job, now)}
})

var autoscalerPrinter = print("Name Reference MinPods MaxPods Replicas Age", func(hpa *autoscalingv2.HorizontalPodAutoscaler, now time.Time) []any {
	target := hpa.Spec.ScaleTargetRef
	return []any{hpa.Name, target.Kind + "/" + target.Name, wanted(hpa.Spec.MinReplicas), hpa.Spec.MaxReplicas, hpa.Status.CurrentReplicas, age(hpa, now)}
})

var disruptionBudgetPrinter = print("Name Min_Available Max_Unavailable Allowed_Disruptions Age", func(pdb *policyv1.PodDisruptionBudget, now time.Time) []any {
	orNA := func(n *intstr.IntOrString) string {
		if n == nil {
			return "N/A"
		}
		return n.String()
	}
	return []any{pdb.Name, orNA(pdb.Spec.MinAvailable), orNA(pdb.Spec.MaxUnavailable), pdb.Status.DisruptionsAllowed, age(pdb, now)}
})
