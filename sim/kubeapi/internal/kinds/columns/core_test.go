package columns

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// kubectl shows why containers ended or wait, rather than the phase of the pod.
func TestStatusOfPods(t *testing.T) {
	for want, state := range map[string]corev1.ContainerState{
		"Completed":        {Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}},
		"Error":            {Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1}},
		"CrashLoopBackOff": {Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
		"Running":          {Running: &corev1.ContainerStateRunning{}},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{State: state}}}}
		if got := Pod.Cells(pod, time.Now())[2]; got != want {
			t.Errorf("the status is %v, want %s", got, want)
		}
	}
}
