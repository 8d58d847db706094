package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// workers are the controllers that Jobs need.
var workers = []string{"job", "scheduler", "kubelet", "garbage"}

// task returns a Job whose pods have annotations, in pairs.
func task(name string, annotations ...string) *batchv1.Job {
	of := map[string]string{}
	for i := 0; i < len(annotations); i += 2 {
		of[annotations[i]] = annotations[i+1]
	}
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: of},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
}

func (r rig) runJob(job *batchv1.Job) *batchv1.Job {
	r.Helper()
	return must(r.kube.BatchV1().Jobs("default").Create(r.Context(), job, metav1.CreateOptions{}))(r)
}

// conditions writes the true conditions of a Job with their reasons, in order.
func conditions(job *batchv1.Job) string {
	var all []string
	for _, c := range job.Status.Conditions {
		if c.Status == corev1.ConditionTrue {
			all = append(all, fmt.Sprintf("%s: %s", c.Type, c.Reason))
		}
	}
	return strings.Join(all, ", ")
}

func ended(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

func (r rig) finishes(name, want string) *batchv1.Job {
	r.Helper()
	job := one(r, "jobs", "default", name, ended)
	if got := conditions(job); got != want {
		r.Errorf("job %s ended with %q, want %q", name, got, want)
	}
	return job
}

const (
	completed = "SuccessCriteriaMet: CompletionsReached, Complete: CompletionsReached"
	exceeded  = "FailureTarget: BackoffLimitExceeded, Failed: BackoffLimitExceeded"
)

func TestJobsRunToCompletion(t *testing.T) {
	r := start(t, controllers.Options{}, workers...)
	job := task("report")
	job.Spec.Completions, job.Spec.Parallelism = new(int32(5)), new(int32(2))
	watcher := r.podEvents()
	r.runJob(job)
	job = r.finishes("report", completed)
	s := job.Status
	if s.Succeeded != 5 || s.Failed != 0 || s.Active != 0 || *s.Ready != 0 || *s.Terminating != 0 || s.StartTime == nil || s.CompletionTime == nil ||
		len(s.UncountedTerminatedPods.Succeeded) != 0 {
		t.Errorf("status %+v", s)
	}
	running, most := map[types.UID]bool{}, 0
	for succeeded := 0; succeeded < 5; {
		pod := (<-watcher.ResultChan()).Object.(*corev1.Pod)
		if running[pod.UID] = pod.Status.Phase != corev1.PodSucceeded; !running[pod.UID] {
			delete(running, pod.UID)
		}
		if most = max(most, len(running)); pod.Status.Phase == corev1.PodSucceeded && len(pod.Finalizers) == 0 {
			succeeded++
			state := pod.Status.ContainerStatuses[0].State.Terminated
			if state == nil || state.ExitCode != 0 || state.Reason != "Completed" || isReady(pod) || pod.Labels["batch.kubernetes.io/job-name"] != "report" {
				t.Errorf("an ended pod: %+v, %+v", pod.Labels, pod.Status)
			}
		}
	}
	if most > 2 {
		t.Errorf("%d pods ran in parallel", most)
	}

	// Its pods go with the job.
	background := metav1.DeletePropagationBackground
	if err := r.kube.BatchV1().Jobs("default").Delete(t.Context(), "report", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
	until(r, "no pods", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
}

// A pod that somebody deletes while it runs counts as a failure, and is replaced.
func TestDeletedPodsOfJobsAreReplaced(t *testing.T) {
	r := start(t, controllers.Options{}, workers...)
	r.runJob(task("slow", "windtunnel.dev/run-for", "1h"))
	var first *corev1.Pod
	until(r, "a running pod", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			first = pod
		}
		return len(pods) == 1 && isReady(first)
	})
	one(r, "jobs", "default", "slow", func(j *batchv1.Job) bool { return j.Status.Active == 1 && *j.Status.Ready == 1 })
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "another pod", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			return len(pods) == 1 && pod.UID != first.UID && isReady(pod)
		}
		return false
	})
	one(r, "jobs", "default", "slow", func(j *batchv1.Job) bool { return j.Status.Active == 1 && j.Status.Failed == 1 })

	// The pods of a deleted job do not stay behind with their finalizers.
	orphan := metav1.DeletePropagationOrphan
	if err := r.kube.BatchV1().Jobs("default").Delete(t.Context(), "slow", metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		t.Fatal(err)
	}
	until(r, "an orphan without finalizer", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		for _, pod := range pods {
			return len(pods) == 1 && len(pod.Finalizers) == 0 && len(pod.OwnerReferences) == 0
		}
		return false
	})
}

func TestJobsFailAtTheirLimits(t *testing.T) {
	t.Parallel()
	r := start(t, controllers.Options{}, workers...)
	job := task("never", "windtunnel.dev/exit-code", "3")
	job.Spec.BackoffLimit = new(int32(1))
	r.runJob(job)
	if s := r.finishes("never", exceeded).Status; s.Failed != 2 || s.Succeeded != 0 || s.CompletionTime != nil {
		t.Errorf("status %+v", s)
	}
	pods := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=never"}))(r)
	if len(pods.Items) != 2 || pods.Items[0].Status.Phase != corev1.PodFailed || pods.Items[0].Status.ContainerStatuses[0].State.Terminated.ExitCode != 3 {
		t.Errorf("pods %+v", pods.Items)
	}

	restarting := task("restarting", "windtunnel.dev/exit-code", "3")
	restarting.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	restarting.Spec.BackoffLimit = new(int32(2))
	r.runJob(restarting)
	r.finishes("restarting", exceeded)

	late := task("late", "windtunnel.dev/run-for", "1h")
	late.Spec.ActiveDeadlineSeconds = new(int64(1))
	r.runJob(late)
	if s := r.finishes("late", "FailureTarget: DeadlineExceeded, Failed: DeadlineExceeded").Status; s.Active != 0 {
		t.Errorf("status %+v", s)
	}
}

func TestJobsAreDeletedAfterTheirTime(t *testing.T) {
	r := start(t, controllers.Options{}, workers...)
	job := task("short")
	job.Spec.TTLSecondsAfterFinished = new(int32(0))
	r.runJob(job)
	until(r, "no job", r.watch("jobs", "default"), func(all map[string]*batchv1.Job) bool { return len(all) == 0 })
	until(r, "no pods", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
	if _, err := r.kube.BatchV1().Jobs("default").Get(t.Context(), "short", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the job: %v", err)
	}
}

func TestSuspendedJobs(t *testing.T) {
	r := start(t, controllers.Options{}, workers...)
	job := task("later")
	job.Spec.Suspend = new(true)
	r.runJob(job)
	job = one(r, "jobs", "default", "later", func(j *batchv1.Job) bool { return conditions(j) == "Suspended: JobSuspended" })
	if pods := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r); len(pods.Items) != 0 || job.Status.StartTime != nil {
		t.Errorf("a suspended job has %d pods and status %+v", len(pods.Items), job.Status)
	}
	must(r.kube.BatchV1().Jobs("default").Patch(t.Context(), "later", types.MergePatchType, []byte(`{"spec":{"suspend":false}}`), metav1.PatchOptions{}))(r)
	r.finishes("later", completed)
}

// Each index of an indexed job has a pod of its own.
func TestIndexedJobs(t *testing.T) {
	r := start(t, controllers.Options{}, workers...)
	job := task("shards")
	job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
	job.Spec.Completions, job.Spec.Parallelism = new(int32(4)), new(int32(3))
	r.runJob(job)
	if s := r.finishes("shards", completed).Status; s.CompletedIndexes != "0-3" || s.Succeeded != 4 {
		t.Errorf("status %+v", s)
	}
	pods := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r)
	var indexes []string
	for _, pod := range pods.Items {
		index := pod.Annotations["batch.kubernetes.io/job-completion-index"]
		indexes = append(indexes, index)
		if !strings.HasPrefix(pod.Name, "shards-"+index+"-") || pod.Spec.Hostname != "shards-"+index || pod.Labels["batch.kubernetes.io/job-completion-index"] != index ||
			pod.Spec.Containers[0].Env[0].Name != "JOB_COMPLETION_INDEX" {
			t.Errorf("pod %+v", pod)
		}
	}
	if slices.Sort(indexes); !slices.Equal(indexes, []string{"0", "1", "2", "3"}) {
		t.Errorf("indexes %v", indexes)
	}
}

// Other pods that do not restart end as well; those that restart always run until they are deleted.
func TestPodsEndAsTheirAnnotationsSay(t *testing.T) {
	r := start(t, controllers.Options{}, "scheduler", "kubelet")
	begun := time.Now()
	for name, annotations := range map[string]map[string]string{
		"ends": nil, "fails": {"windtunnel.dev/exit-code": "7"}, "takes-time": {"windtunnel.dev/run-for": "300ms"}} {
		pod := onePod(name)
		pod.Annotations, pod.Spec.RestartPolicy = annotations, corev1.RestartPolicyNever
		must(r.kube.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}))(r)
	}
	r.runs("stays")
	phase := func(name string, want corev1.PodPhase) {
		t.Helper()
		one(r, "pods", "default", name, func(pod *corev1.Pod) bool { return pod.Status.Phase == want })
	}
	phase("ends", corev1.PodSucceeded)
	phase("fails", corev1.PodFailed)
	phase("takes-time", corev1.PodSucceeded)
	if took := time.Since(begun); took < 300*time.Millisecond {
		t.Errorf("all ended within %v", took)
	}
	phase("stays", corev1.PodRunning)
}

// A pod with an invalid annotation fails, and an event describes the valid values.
func TestBadAnnotationsFailThePod(t *testing.T) {
	r := start(t, controllers.Options{}, "scheduler", "kubelet")
	for name, annotation := range map[string]string{"time": "windtunnel.dev/run-for", "code": "windtunnel.dev/exit-code"} {
		pod := onePod(name)
		pod.Annotations, pod.Spec.RestartPolicy = map[string]string{annotation: "soon"}, corev1.RestartPolicyOnFailure
		must(r.kube.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}))(r)
		one(r, "pods", "default", name, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodFailed })
		until(r, "an event about "+annotation, r.watch("events", "default"), func(all map[string]*corev1.Event) bool {
			for _, e := range all {
				if e.Reason == "InvalidAnnotation" && strings.HasPrefix(e.Message, "the annotation "+annotation+` is "soon", but must be`) {
					return true
				}
			}
			return false
		})
	}
}

func TestIgnoredFieldsOfJobsAreReported(t *testing.T) {
	r := start(t, controllers.Options{}, workers...)
	job := task("policy")
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}}}}
	r.runJob(job)
	r.finishes("policy", completed)
	if e := r.event("NotSimulated"); e.Message != "The simulated cluster ignores spec.podFailurePolicy" {
		t.Errorf("event %q", e.Message)
	}
}

// Pods that the controller deletes because a Job is suspended, or wants fewer of them, did not fail.
func TestPodsThatAJobDeletesDoNotFail(t *testing.T) {
	for name, patch := range map[string]string{"suspended": `{"spec":{"suspend":true}}`, "narrower": `{"spec":{"parallelism":0}}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, controllers.Options{}, workers...)
			job := task(name, "windtunnel.dev/run-for", "1h")
			job.Spec.Parallelism, job.Spec.Completions, job.Spec.BackoffLimit = new(int32(3)), new(int32(3)), new(int32(0))
			r.runJob(job)
			one(r, "jobs", "default", name, func(j *batchv1.Job) bool { return j.Status.Active == 3 })
			must(r.kube.BatchV1().Jobs("default").Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}))(r)
			until(r, "no pods", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
			job = one(r, "jobs", "default", name, func(j *batchv1.Job) bool { return j.Status.Active == 0 && *j.Status.Terminating == 0 })
			if job.Status.Failed != 0 || strings.Contains(conditions(job), "Fail") {
				t.Errorf("%d pods failed, conditions %q", job.Status.Failed, conditions(job))
			}
		})
	}
}

// A Job whose containers are restarted ends as soon as there were as many restarts as backoffLimit
// says.
func TestRestartsReachTheBackoffLimit(t *testing.T) {
	t.Parallel()
	r := start(t, controllers.Options{}, workers...)
	events := r.podEvents()
	job := task("restarting", "windtunnel.dev/exit-code", "3")
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	job.Spec.BackoffLimit = new(int32(5)) // the delay before the next restart is long enough to end the pod
	r.runJob(job)
	restarts := int32(0)
	for e := range events.ResultChan() {
		pod := e.Object.(*corev1.Pod)
		for _, c := range pod.Status.ContainerStatuses {
			restarts = max(restarts, c.RestartCount)
		}
		if pod.DeletionTimestamp != nil {
			break
		}
	}
	events.Stop()
	r.finishes("restarting", exceeded)
	if restarts != 5 {
		t.Errorf("the job failed after %d restarts, want 5", restarts)
	}
}
