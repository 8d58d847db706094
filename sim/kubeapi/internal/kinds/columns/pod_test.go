package columns

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	runs    = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	done    = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
	failed  = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Error", ExitCode: 1}}
	killed  = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Signal: 9, ExitCode: 137}}
	exited  = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2}}
	crashes = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}
	waits   = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
)

// kubectl shows why containers ended or wait, rather than the phase of the pod.
func TestStatusOfPods(t *testing.T) {
	ready := func(state corev1.ContainerState) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: state, Ready: true}
	}
	one := func(state corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: state}}}
	}
	for want, status := range map[string]corev1.PodStatus{
		"Completed":        one(done),
		"Error":            one(failed),
		"Signal:9":         one(killed),
		"ExitCode:2":       one(exited),
		"CrashLoopBackOff": {ContainerStatuses: []corev1.ContainerStatus{{State: crashes}, {State: done}}},
		"NotReady":         {ContainerStatuses: []corev1.ContainerStatus{{State: done}, ready(runs)}},
		"Running": {ContainerStatuses: []corev1.ContainerStatus{{State: done}, ready(runs)},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		"Init:0/2":              {InitContainerStatuses: []corev1.ContainerStatus{{State: runs}, {State: waits}}, ContainerStatuses: []corev1.ContainerStatus{{State: waits}}},
		"Init:1/2":              {InitContainerStatuses: []corev1.ContainerStatus{{State: done}, {State: waits}}},
		"Init:Error":            {InitContainerStatuses: []corev1.ContainerStatus{{State: failed}}},
		"Init:Signal:9":         {InitContainerStatuses: []corev1.ContainerStatus{{State: killed}}},
		"Init:CrashLoopBackOff": {InitContainerStatuses: []corev1.ContainerStatus{{State: crashes}}},
		"Evicted":               {Reason: "Evicted"},
		"SchedulingGated":       {Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Reason: corev1.PodReasonSchedulingGated}}},
	} {
		status.Phase = corev1.PodPending
		pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: make([]corev1.Container, 2)}, Status: status}
		if got := Pod.Cells(pod, time.Now())[2]; got != want {
			t.Errorf("the status is %v, want %s", got, want)
		}
	}
}

func TestStatusOfDeletedPods(t *testing.T) {
	for want, status := range map[string]corev1.PodStatus{
		"Terminating": {Phase: corev1.PodRunning},
		"Succeeded":   {Phase: corev1.PodSucceeded},
		"Unknown":     {Phase: corev1.PodRunning, Reason: "NodeLost"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}, Status: status}
		if got := Pod.Cells(pod, time.Now())[2]; got != want {
			t.Errorf("the status is %v, want %s", got, want)
		}
	}
}

// A sidecar counts as a container. Restarts of init containers that have completed do not count.
func TestContainersAndRestartsOfPods(t *testing.T) {
	now := time.Now()
	restarted := func(name string, n int32, ago time.Duration) corev1.ContainerStatus {
		ended := &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(-ago))}
		return corev1.ContainerStatus{Name: name, RestartCount: n, Ready: true, Started: new(true), State: runs,
			LastTerminationState: corev1.ContainerState{Terminated: ended}}
	}
	setup := restarted("setup", 7, time.Second)
	setup.State = done
	pod := &corev1.Pod{
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "setup"}, {Name: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
			Containers:     []corev1.Container{{Name: "web"}, {Name: "idle"}},
			ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "a"}, {ConditionType: "b"}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning,
			InitContainerStatuses: []corev1.ContainerStatus{setup, restarted("proxy", 1, time.Hour)},
			ContainerStatuses:     []corev1.ContainerStatus{restarted("web", 2, 5*time.Minute), {Name: "idle"}},
			Conditions:            []corev1.PodCondition{{Type: "b", Status: corev1.ConditionTrue}},
		},
	}
	cells := Pod.Cells(pod, now)
	if got, want := []any{cells[1], cells[2], cells[3], cells[8]}, []any{"2/3", "Running", "3 (5m ago)", "1/2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("ready, status, restarts and gates are %v, want %v", got, want)
	}
}
