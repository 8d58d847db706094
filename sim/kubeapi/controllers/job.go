package controllers

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	batchlisters "k8s.io/client-go/listers/batch/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/utils/ptr"
)

var jobKind = batchv1.SchemeGroupVersion.WithKind("Job")

// job runs the pods of Jobs until enough of them have succeeded or too many have failed. The
// simulated kubelet decides how each pod ends. Success policies, pod failure policies and limits
// per index are not simulated.
//
// As in Kubernetes, each pod has a finalizer until the status counts it, so that no result is lost
// when a pod is deleted.
type job struct {
	*cluster
	queue *loop
	jobs  batchlisters.JobLister
	pods  listers.PodLister
}

func newJob(c *cluster) (*loop, error) {
	jobs := c.informers.Batch().V1().Jobs()
	j := &job{cluster: c, jobs: jobs.Lister(), pods: c.informers.Core().V1().Pods().Lister()}
	l := newLoop(j.sync)
	l.watch(jobs.Informer(), ownKey)
	c.watchPods(l, controllerKey("Job"))
	j.queue = l
	return l, nil
}

// work is the state of one sync: a copy of the Job, which may be changed, and its pods.
type work struct {
	*batchv1.Job
	selector labels.Selector
	pods     []*corev1.Pod
	was      batchv1.JobStatus
}

func (j *job) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	cached, err := j.jobs.Jobs(namespace).Get(name)
	if ignoreNotFound(err) != nil {
		return err
	}
	if err := j.release(ctx, namespace, name, cached); err != nil || cached == nil {
		return err
	}
	if ptr.Deref(cached.Spec.ManagedBy, batchv1.JobControllerName) != batchv1.JobControllerName {
		return nil
	}
	w := &work{Job: cached.DeepCopy(), was: cached.Status}
	if w.selector, err = metav1.LabelSelectorAsSelector(w.Spec.Selector); err != nil {
		return nil //nolint:nilerr // a user's mistake, so a retry does not help
	}
	all, err := j.pods.Pods(namespace).List(w.selector)
	if err != nil {
		return err
	}
	w.pods = controlledBy(w.Job, all)
	if isFinished(w.Job) {
		if err := j.removeFinalizers(ctx, w.pods); err != nil {
			return err
		}
		return j.deleteAfterTTL(ctx, w.Job)
	}
	w.count()
	j.judge(w)
	if err := j.manage(ctx, w); err != nil {
		return err
	}
	w.complete()
	if err := j.writeStatus(ctx, w); err != nil {
		return err
	}
	return j.removeFinalizers(ctx, w.counted())
}

// manage creates and deletes pods. A Job that is about to finish gets no new ones.
func (j *job) manage(ctx context.Context, w *work) error {
	if w.DeletionTimestamp != nil {
		return nil
	}
	active := w.active()
	slices.SortFunc(active, deletionOrder)
	switch {
	case w.ending():
		return j.deletePods(ctx, w, active)
	case w.suspended():
		return j.giveUp(ctx, w, active)
	}
	if wait := w.backoff(time.Now()); wait > 0 {
		j.queue.queue.AddAfter(keyOf(w.Namespace, w.Name), wait)
		return nil
	}
	if surplus := len(active) - w.wantedPods(); surplus > 0 {
		return j.giveUp(ctx, w, active[:surplus])
	}
	if w.wantedPods()-w.occupied() <= 0 {
		return nil
	}
	if current, err := j.isCurrent(ctx, w); err != nil || !current {
		return err
	}
	pods := w.newPods(w.wantedPods() - w.occupied())
	return inParallel(len(pods), func(i int) error { return j.createPod(ctx, w.Job, pods[i]) })
}

// isCurrent reports whether the caches show the current Job and pods. If they do not, the missing
// changes will queue the Job again.
func (j *job) isCurrent(ctx context.Context, w *work) (bool, error) {
	live, err := j.client.BatchV1().Jobs(w.Namespace).Get(ctx, w.Name, metav1.GetOptions{})
	if err != nil || live.ResourceVersion != w.ResourceVersion {
		return false, ignoreNotFound(err)
	}
	pods, err := j.livePods(ctx, w.Job, w.selector)
	if err != nil || len(pods) != len(w.pods) {
		return false, err
	}
	for _, pod := range w.pods {
		if !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.UID == pod.UID }) {
			return false, nil
		}
	}
	return true, nil
}

// writeStatus writes the status if it has changed, and records an event when the Job finishes.
func (j *job) writeStatus(ctx context.Context, w *work) error {
	if apiequality.Semantic.DeepEqual(w.was, w.Status) {
		return nil
	}
	written, err := j.client.BatchV1().Jobs(w.Namespace).UpdateStatus(ctx, w.Job, metav1.UpdateOptions{})
	if err != nil {
		return ignoreNotFound(err)
	}
	w.Job = written
	switch {
	case w.is(batchv1.JobComplete):
		j.events.Event(w.Job, corev1.EventTypeNormal, "Completed", "Job completed")
	case w.is(batchv1.JobFailed):
		failed := w.conditionOf(batchv1.JobFailed)
		j.events.Event(w.Job, corev1.EventTypeWarning, failed.Reason, failed.Message)
	}
	return nil
}

// deleteAfterTTL deletes a finished Job when its time to live is over.
func (j *job) deleteAfterTTL(ctx context.Context, of *batchv1.Job) error {
	if of.Spec.TTLSecondsAfterFinished == nil || of.DeletionTimestamp != nil {
		return nil
	}
	w := &work{Job: of}
	finished := w.conditionOf(batchv1.JobComplete)
	if finished == nil {
		finished = w.conditionOf(batchv1.JobFailed)
	}
	ttl := time.Duration(*of.Spec.TTLSecondsAfterFinished) * time.Second
	if wait := time.Until(finished.LastTransitionTime.Add(ttl)); wait > 0 {
		j.queue.queue.AddAfter(keyOf(of.Namespace, of.Name), wait)
		return nil
	}
	foreground := metav1.DeletePropagationForeground
	return ignoreNotFound(j.client.BatchV1().Jobs(of.Namespace).Delete(ctx, of.Name, metav1.DeleteOptions{
		PropagationPolicy: &foreground, Preconditions: &metav1.Preconditions{UID: &of.UID}}))
}
