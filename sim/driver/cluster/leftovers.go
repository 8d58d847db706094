package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/cluster"
)

// leftovers returns what runs have in the cluster, one for each namespace of a subject.
func (d *Driver) leftovers(ctx context.Context) (cluster.Leftovers, error) {
	list, err := d.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		return nil, fmt.Errorf("look for leftovers of earlier runs: %w", err)
	}
	var all cluster.Leftovers
	for _, one := range list.Items {
		left := home{client: d.client, run: one.Labels[RunLabel]}
		expires, err := left.lease().Expires(ctx, d.client, one.CreationTimestamp.Time)
		if err != nil {
			return nil, err
		}
		all = append(all, cluster.Leftover{Run: left.run, Expires: expires, Remove: left.remove})
	}
	return all, nil
}

// reportLeftovers tells the user about leftovers. Prepare removes those of runs that were killed.
func (d *Driver) reportLeftovers(ctx context.Context) error {
	all, err := d.leftovers(ctx)
	all.Report(d.Tell)
	return err
}

// removeLeftovers removes what runs left behind that were killed.
func (d *Driver) removeLeftovers(ctx context.Context) error {
	all, err := d.leftovers(ctx)
	if err != nil {
		return err
	}
	return all.RemoveExpired(ctx)
}
