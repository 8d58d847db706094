package controllers

import (
	"context"
	"encoding/json"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

func isTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// active returns the pods that run or will run.
func (w *work) active() []*corev1.Pod { return activeOf(w.pods) }

// occupied returns the number of pods that must not be replaced yet. It includes terminating pods if
// the Job replaces only pods that have ended.
func (w *work) occupied() int {
	n := int(w.Status.Active)
	if ptr.Deref(w.Spec.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.Failed {
		n += int(*w.Status.Terminating)
	}
	return n
}

// wantedPods returns how many pods should be active.
func (w *work) wantedPods() int {
	parallelism := int(ptr.Deref(w.Spec.Parallelism, 1))
	switch {
	case w.Spec.Completions != nil:
		return min(parallelism, max(0, int(*w.Spec.Completions)-w.succeeded()))
	case w.succeeded() > 0:
		return min(parallelism, len(w.active())) // running pods may end, but no others start
	}
	return parallelism
}

// newPods returns n new pods; fewer, if an indexed Job has no more free indexes.
func (w *work) newPods(n int) []*corev1.Pod {
	var pods []*corev1.Pod
	if w.indexed() {
		for _, index := range w.freeIndexes(n) {
			pods = append(pods, w.indexedPod(index))
		}
		return pods
	}
	for range n {
		pods = append(pods, w.newPod())
	}
	return pods
}

func (w *work) newPod() *corev1.Pod {
	pod := podOf(w.Job, jobKind, &w.Spec.Template)
	pod.Finalizers = append(pod.Finalizers, batchv1.JobTrackingFinalizer)
	return pod
}

// counted returns the pods with a finalizer whose end the status records.
func (w *work) counted() []*corev1.Pod {
	uncounted := ptr.Deref(w.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
	var pods []*corev1.Pod
	for _, pod := range w.pods {
		if slices.Contains(uncounted.Succeeded, pod.UID) || slices.Contains(uncounted.Failed, pod.UID) ||
			w.indexed() && pod.Status.Phase == corev1.PodSucceeded {
			pods = append(pods, pod)
		}
	}
	return pods
}

func (j *job) deletePods(ctx context.Context, w *work, pods []*corev1.Pod) error {
	return inParallel(len(pods), func(i int) error { return j.deletePod(ctx, w.Job, pods[i]) })
}

// giveUp deletes pods that the Job no longer wants. It removes their finalizers first, so that they
// do not count as failures.
func (j *job) giveUp(ctx context.Context, w *work, pods []*corev1.Pod) error {
	if err := j.removeFinalizers(ctx, pods); err != nil {
		return err
	}
	return j.deletePods(ctx, w, pods)
}

// removeFinalizers removes the finalizer of the controller from pods.
func (j *job) removeFinalizers(ctx context.Context, pods []*corev1.Pod) error {
	pods = slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool { return !isTracked(pod) })
	return inParallel(len(pods), func(i int) error {
		patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
			"uid": pods[i].UID, "$deleteFromPrimitiveList/finalizers": []string{batchv1.JobTrackingFinalizer}}})
		if err != nil {
			return err
		}
		_, err = j.client.CoreV1().Pods(pods[i].Namespace).Patch(ctx, pods[i].Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{})
		return ignoreNotFound(err)
	})
}

// release removes the finalizers from the pods of earlier Jobs with this name, because no status counts
// them any more. now is the current Job of this name, nil if there is none.
func (j *job) release(ctx context.Context, namespace, name string, now *batchv1.Job) error {
	all, err := j.pods.Pods(namespace).List(labels.Everything())
	if err != nil {
		return err
	}
	return j.removeFinalizers(ctx, slices.DeleteFunc(all, func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(pod)
		if owner == nil {
			return pod.Labels[batchv1.JobNameLabel] != name // orphaned
		}
		return owner.Kind != jobKind.Kind || owner.Name != name || now != nil && owner.UID == now.UID
	}))
}
