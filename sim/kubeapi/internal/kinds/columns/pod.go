package columns

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var Pod = resource.NewPrinter("Name Ready Status Restarts Age +IP +Node +Nominated_Node +Readiness_Gates", func(pod *corev1.Pod, now time.Time) []any {
	s := summaryOf(pod)
	return []any{pod.Name, fmt.Sprintf("%d/%d", s.ready, s.containers), s.status, s.restarts.since(now), resource.Age(pod, now),
		orNone(pod.Status.PodIP), orNone(pod.Spec.NodeName), orNone(pod.Status.NominatedNodeName), readinessGates(pod)}
})

// podSummary holds the values that kubectl get shows for the containers of a pod.
type podSummary struct {
	ready, containers int
	status            string
	restarts          restarts
}

// restarts counts the restarts of containers.
type restarts struct {
	n    int32
	last metav1.Time
}

func (r *restarts) add(c *corev1.ContainerStatus) {
	r.n += c.RestartCount
	if ended := c.LastTerminationState.Terminated; ended != nil && r.last.Before(&ended.FinishedAt) {
		r.last = ended.FinishedAt
	}
}

func (r restarts) since(now time.Time) string {
	if r.n == 0 || r.last.IsZero() {
		return fmt.Sprint(r.n)
	}
	return fmt.Sprintf("%d (%s ago)", r.n, resource.Since(r.last, now))
}

func summaryOf(pod *corev1.Pod) podSummary {
	s := podSummary{containers: len(pod.Spec.Containers), status: cmp.Or(pod.Status.Reason, string(pod.Status.Phase))}
	if slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated
	}) {
		s.status = corev1.PodReasonSchedulingGated
	}
	if initialized := s.addInitContainers(pod); initialized || hasCondition(pod, corev1.PodInitialized) {
		s.addContainers(pod)
	}
	switch ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed; {
	case pod.DeletionTimestamp == nil:
	case pod.Status.Reason == "NodeLost":
		s.status = "Unknown"
	case !ended:
		s.status = "Terminating"
	}
	return s
}

// addInitContainers adds the init containers up to the first one that is not done, and returns true
// if all are. Sidecars, which are init containers that keep running, count as containers of the pod.
func (s *podSummary) addInitContainers(pod *corev1.Pod) (initialized bool) {
	sidecars := map[string]bool{}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars[c.Name] = true
			s.containers++
		}
	}
	var ofSidecars restarts
	for i := range pod.Status.InitContainerStatuses {
		c := &pod.Status.InitContainerStatuses[i]
		s.restarts.add(c)
		if sidecars[c.Name] {
			ofSidecars.add(c)
		}
		waiting, ended := c.State.Waiting, c.State.Terminated
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case sidecars[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		case ended != nil:
			s.status = "Init:" + endOf(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			s.status = "Init:" + waiting.Reason
		default:
			s.status = fmt.Sprintf("Init:%d/%d", i, len(pod.Spec.InitContainers))
		}
		if hasCondition(pod, corev1.PodInitialized) {
			s.restarts = ofSidecars
		}
		return false
	}
	s.restarts = ofSidecars
	return true
}

// addContainers adds the containers. The status of the first one takes precedence. A pod with a
// running container is not Completed.
func (s *podSummary) addContainers(pod *corev1.Pod) {
	running, failed := false, ""
	for i := range slices.Backward(pod.Status.ContainerStatuses) {
		c := &pod.Status.ContainerStatuses[i]
		s.restarts.add(c)
		switch state := c.State; {
		case state.Waiting != nil && state.Waiting.Reason != "":
			s.status = state.Waiting.Reason
		case state.Terminated != nil:
			s.status = endOf(state.Terminated)
			if state.Terminated.ExitCode != 0 {
				failed = s.status
			}
		case c.Ready && state.Running != nil:
			running = true
			s.ready++
		}
	}
	switch {
	case s.status != "Completed":
	case running && hasCondition(pod, corev1.PodReady):
		s.status = "Running"
	case failed != "":
		s.status = failed
	case running:
		s.status = "NotReady"
	}
}

// endOf says why a container ended.
func endOf(ended *corev1.ContainerStateTerminated) string {
	switch {
	case ended.Reason != "":
		return ended.Reason
	case ended.Signal != 0:
		return fmt.Sprintf("Signal:%d", ended.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", ended.ExitCode)
}

func hasCondition(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind && c.Status == corev1.ConditionTrue })
}

func readinessGates(pod *corev1.Pod) string {
	open, all := 0, len(pod.Spec.ReadinessGates)
	if all == 0 {
		return "<none>"
	}
	for _, gate := range pod.Spec.ReadinessGates {
		if hasCondition(pod, gate.ConditionType) {
			open++
		}
	}
	return fmt.Sprintf("%d/%d", open, all)
}
