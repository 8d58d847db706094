package pool

import (
	"context"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// find lists the pods of the pool. Known members keep their state, even while they are not ready.
// Members whose pods have ended are forgotten.
func (f *Fleet) find(ctx context.Context) error {
	list, err := f.client.CoreV1().Pods(f.options.Namespace).List(ctx, metav1.ListOptions{LabelSelector: PoolLabel + "=" + f.options.Name})
	if err != nil {
		return fmt.Errorf("looking for the pods of the pool %s/%s: %w", f.options.Namespace, f.options.Name, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	found := map[string]*member{}
	for _, p := range list.Items {
		address, err := netip.ParseAddr(p.Status.PodIP)
		if err != nil || p.DeletionTimestamp != nil {
			continue
		}
		m := f.members[p.Name]
		if m == nil || m.address != address {
			m = &member{name: p.Name, address: address}
		}
		m.ready = isReady(p)
		found[p.Name] = m
	}
	f.members = found
	return nil
}

func isReady(p corev1.Pod) bool {
	for _, condition := range p.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
