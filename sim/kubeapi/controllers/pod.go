package controllers

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Functions about pods that the controllers share.

func isReady(pod *corev1.Pod) bool {
	c := condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// availableIn returns how much longer a pod must stay ready until it counts as available. It
// returns false if the pod is not ready.
func availableIn(pod *corev1.Pod, minReady time.Duration, now time.Time) (time.Duration, bool) {
	if !isReady(pod) {
		return 0, false
	}
	return max(0, minReady-now.Sub(condition(pod, corev1.PodReady).LastTransitionTime.Time)), true
}

func isActive(pod *corev1.Pod) bool { return !isOver(pod) && pod.DeletionTimestamp == nil }

func isOver(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func setCondition(pod *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, now metav1.Time) {
	c := condition(pod, kind)
	if c == nil {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind})
		c = condition(pod, kind)
	}
	if c.Status != status {
		c.Status, c.LastTransitionTime = status, now
	}
}
