package controllers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// fits reports whether a pod may run on a node: the pod's nodeSelector and required node affinity
// match the node, and the pod tolerates the node's taints. As in Kubernetes, a node that is
// unschedulable has a taint. A malformed affinity matches no node.
func fits(pod *corev1.Pod, node *corev1.Node) bool {
	if node.Spec.Unschedulable && !tolerates(pod, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return false
	}
	for _, taint := range node.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(pod, taint) {
			return false
		}
	}
	if len(pod.Spec.NodeSelector) == 0 && pod.Spec.Affinity == nil {
		return true
	}
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	return err == nil && match
}

func tolerates(pod *corev1.Pod, taint corev1.Taint) bool {
	for i := range pod.Spec.Tolerations {
		if pod.Spec.Tolerations[i].ToleratesTaint(klog.Background(), &taint, false) {
			return true
		}
	}
	return false
}
