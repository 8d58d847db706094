package controllers

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// The duration of a node's lease, and the time after which a kubelet renews it (a quarter of it, by
// default).
const (
	leaseDuration      = 40 * time.Second
	leaseRenewInterval = leaseDuration / 4
)

// renewLeases keeps the lease of each node until ctx is done. The namespace of the leases is one of
// those that every API server creates.
func (k *kubelet) renewLeases(ctx context.Context) {
	timer := time.NewTicker(leaseRenewInterval)
	defer timer.Stop()
	for {
		for _, name := range k.opts.Nodes {
			if err := k.renewLease(ctx, name); err != nil && ctx.Err() == nil {
				klog.FromContext(ctx).Error(err, "renewing the lease of a node failed, will be tried again", "node", name)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}

// renewLease writes the lease of a node, and creates it if it is missing.
func (k *kubelet) renewLease(ctx context.Context, name string) error {
	api := k.client.CoordinationV1().Leases(corev1.NamespaceNodeLease)
	lease, err := api.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return k.createLease(ctx, name)
	}
	if err != nil {
		return err
	}
	now := metav1.NowMicro()
	lease.Spec.RenewTime = &now
	_, err = api.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}

func (k *kubelet) createLease(ctx context.Context, name string) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ignoreNotFound(err) // a deleted node has no lease
	}
	now, seconds := metav1.NowMicro(), int32(leaseDuration/time.Second)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: name, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "Node", Name: name, UID: node.UID}}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: &seconds, RenewTime: &now},
	}
	_, err = k.client.CoordinationV1().Leases(lease.Namespace).Create(ctx, lease, metav1.CreateOptions{})
	return err
}
