package controllers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// fits reports whether a pod may start on a node: the pod's nodeSelector and required node affinity
// match the node, and the pod tolerates the node's taints. As in Kubernetes, a node that is
// unschedulable has a taint.
func fits(pod *corev1.Pod, node *corev1.Node) bool {
	if node.Spec.Unschedulable && !tolerates(pod, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}) {
		return false
	}
	return toleratesAll(pod, node, corev1.TaintEffectNoSchedule) && mayStay(pod, node)
}

// mayStay reports whether a pod may keep running on a node. It ignores taints with the effect
// NoSchedule.
func mayStay(pod *corev1.Pod, node *corev1.Node) bool {
	return toleratesAll(pod, node, corev1.TaintEffectNoExecute) && selectsNode(pod, node)
}

// selectsNode reports whether a pod's nodeSelector and required node affinity match a node. A
// malformed affinity matches no node.
func selectsNode(pod *corev1.Pod, node *corev1.Node) bool {
	if len(pod.Spec.NodeSelector) == 0 && pod.Spec.Affinity == nil {
		return true
	}
	match, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	return err == nil && match
}

// toleratesAll reports whether a pod tolerates all taints of a node that have this effect.
func toleratesAll(pod *corev1.Pod, node *corev1.Node, effect corev1.TaintEffect) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Effect == effect && !tolerates(pod, taint) {
			return false
		}
	}
	return true
}

func tolerates(pod *corev1.Pod, taint corev1.Taint) bool {
	for i := range pod.Spec.Tolerations {
		if pod.Spec.Tolerations[i].ToleratesTaint(klog.Background(), &taint, false) {
			return true
		}
	}
	return false
}
