package cluster

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/cluster"
)

// leftovers returns the leftovers of all runs in the cluster, one for each subject. What is left may be
// namespaces beside a home that is gone.
func (d *Driver) leftovers(ctx context.Context) ([]cluster.Leftover, error) {
	list, err := d.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		return nil, fmt.Errorf("look for leftovers of earlier runs: %w", err)
	}
	var all []cluster.Leftover
	for _, one := range list.Items {
		left := home{client: d.client, run: one.Labels[RunLabel]}
		if !left.has(one) || slices.ContainsFunc(all, func(l cluster.Leftover) bool { return l.Run == left.run }) {
			continue
		}
		expires, err := left.lease().Expires(ctx, d.client, one.CreationTimestamp.Time)
		if err != nil {
			return nil, err
		}
		all = append(all, cluster.Leftover{Run: left.run, Expires: expires, Remove: left.remove})
	}
	return all, nil
}
