package controllers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// register creates the missing nodes, as each kubelet does for its own node, and starts to renew
// their leases.
func (k *kubelet) register(ctx context.Context) error {
	if len(k.opts.Nodes) == 0 {
		return nil
	}
	for i, name := range k.opts.Nodes {
		_, err := k.client.CoreV1().Nodes().Create(ctx, k.node(name, i), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("registering node %s: %w", name, err)
		}
	}
	k.renewing.Go(func() { k.renewLeases(ctx) })
	return nil
}

func (k *kubelet) node(name string, i int) *corev1.Node {
	now := metav1.Now()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}}}
	if k.opts.Zone != nil {
		node.Labels[corev1.LabelTopologyZone] = k.opts.Zone(name)
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("100000")}
	node.Status = corev1.NodeStatus{
		Capacity: room, Allocatable: room,
		Addresses: []corev1.NodeAddress{
			{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.0.%d.%d", i/250, i%250+1)}, {Type: corev1.NodeHostName, Address: name}},
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now}},
		NodeInfo: corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: "v1.36.0"},
	}
	return node
}

// addressOfNode returns the internal address of a node, or an empty string if it is not known.
func (k *kubelet) addressOfNode(name string) string {
	node, err := k.nodes.Get(name)
	if err != nil {
		return ""
	}
	for _, a := range node.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}
