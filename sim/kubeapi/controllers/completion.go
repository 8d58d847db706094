package controllers

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations of a pod that define how the simulated run of its containers ends. They have no effect
// with restartPolicy Always, because such containers run until the pod is deleted.
const (
	// runForAnnotation is how long the containers run, as a Go duration; 0s by default.
	runForAnnotation = "windtunnel.dev/run-for"
	// exitCodeAnnotation is the exit code of the containers; 0 by default.
	exitCodeAnnotation = "windtunnel.dev/exit-code"
)

// terminationCode is the exit code of a container that SIGTERM ends.
const terminationCode = 143

// The delays before a failed container is restarted and a failed pod of a Job replaced. They
// double with each failure, and are a hundredth of the delays of Kubernetes.
const (
	firstRetryDelay = 100 * time.Millisecond
	maxRetryDelay   = 3600 * time.Millisecond
)

// retryDelay returns the delay after the given number of failures.
func retryDelay(failures int) time.Duration {
	delay := firstRetryDelay
	for i := 1; i < failures && delay < maxRetryDelay; i++ {
		delay *= 2
	}
	return min(delay, maxRetryDelay)
}

// ends reports whether the containers of a pod may end by themselves.
func ends(pod *corev1.Pod) bool { return pod.Spec.RestartPolicy != corev1.RestartPolicyAlways }

// badAnnotationCode is the exit code of containers if one of these annotations is invalid.
const badAnnotationCode = 128

// endOf returns how long the containers of a pod run and with which code they exit, according to
// the pod's annotations. If an annotation is invalid, the containers fail at once.
func endOf(pod *corev1.Pod) (after time.Duration, code int32, err error) {
	if text, ok := pod.Annotations[runForAnnotation]; ok {
		if after, err = time.ParseDuration(text); err != nil {
			return 0, badAnnotationCode, fmt.Errorf("the annotation %s is %q, but must be a duration, for example 2s", runForAnnotation, text)
		}
	}
	if text, ok := pod.Annotations[exitCodeAnnotation]; ok {
		number, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return 0, badAnnotationCode, fmt.Errorf("the annotation %s is %q, but must be a number from 0 to 255", exitCodeAnnotation, text)
		}
		code = int32(number)
	}
	return after, code, nil
}

// finish ends the run of a ready pod's containers when their time is over. Failed containers are
// restarted, if the pod's restartPolicy says so.
func (k *kubelet) finish(ctx context.Context, key string, pod *corev1.Pod) error {
	duration, code, problem := endOf(pod)
	if restarts := restartsOf(pod); restarts > 0 {
		duration += retryDelay(restarts)
	}
	if wait := time.Until(k.startOf(pod).Add(duration)); wait > 0 {
		k.queue.queue.AddAfter(key, wait)
		return nil
	}
	pod = pod.DeepCopy()
	if code != 0 && problem == nil && pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		restart(pod, code)
	} else {
		terminate(pod, code)
	}
	err := k.write(ctx, pod)
	if err != nil {
		return err
	}
	k.forgetStart(pod)
	if problem != nil {
		k.events.Event(pod, corev1.EventTypeWarning, "InvalidAnnotation", problem.Error())
	}
	return nil
}

// startOf returns when a pod that is not ready started, and when the current run of a ready pod's
// containers began. The times in the API are too coarse: they are whole seconds.
func (k *kubelet) startOf(pod *corev1.Pod) time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, known := k.started[pod.UID]
	if !known {
		at = time.Now()
		k.started[pod.UID] = at
	}
	return at
}

func (k *kubelet) forgetStart(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.started, pod.UID)
}

func restartsOf(pod *corev1.Pod) int {
	restarts := int32(0)
	for _, status := range pod.Status.ContainerStatuses {
		restarts = max(restarts, status.RestartCount)
	}
	return int(restarts)
}

// restart records in the pod's status that its containers exited with this code and run again.
func restart(pod *corev1.Pod, code int32) {
	now := metav1.Now()
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		status.LastTerminationState.Terminated = terminated(status, code, now)
		status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		status.RestartCount++
	}
}

// terminate records in the pod's status that its containers exited with this code.
func terminate(pod *corev1.Pod, code int32) {
	now, reason := metav1.Now(), "PodCompleted"
	pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		pod.Status.Phase, reason = corev1.PodFailed, "PodFailed"
	}
	for _, kind := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		setCondition(pod, kind, corev1.ConditionFalse, now)
		condition(pod, kind).Reason = reason
	}
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		status.State = corev1.ContainerState{Terminated: terminated(status, code, now)}
		status.Ready, status.Started = false, new(bool)
	}
}

func terminated(status *corev1.ContainerStatus, code int32, now metav1.Time) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", FinishedAt: now, StartedAt: now}
	if code != 0 {
		t.Reason = "Error"
	}
	if status.State.Running != nil {
		t.StartedAt = status.State.Running.StartedAt
	}
	return t
}
