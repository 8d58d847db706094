package cluster

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/cluster"
)

// leftover is a subject's namespace of an earlier run.
type leftover struct {
	home
	until time.Time // when its Lease ends; if that is over, the run was killed
}

// leftovers returns all namespaces of runs.
func (d *Driver) leftovers(ctx context.Context) ([]leftover, error) {
	list, err := d.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		return nil, fmt.Errorf("look for leftovers of earlier runs: %w", err)
	}
	var all []leftover
	for _, one := range list.Items {
		left := leftover{home: home{client: d.client, run: one.Labels[RunLabel]}}
		if left.until, err = left.lease().Expires(ctx, d.client, one.CreationTimestamp.Time); err != nil {
			return nil, err
		}
		all = append(all, left)
	}
	return all, nil
}

// reportLeftovers tells the user about leftovers. Prepare removes those of runs that were killed.
func (d *Driver) reportLeftovers(ctx context.Context) error {
	all, err := d.leftovers(ctx)
	for _, one := range all {
		d.Tell(cluster.LeftoverNotice(one.run, one.until))
	}
	return err
}

// removeLeftovers removes what runs left behind that were killed.
func (d *Driver) removeLeftovers(ctx context.Context) error {
	all, err := d.leftovers(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if time.Now().Before(one.until) {
			continue
		}
		if err := one.remove(ctx); err != nil {
			return err
		}
	}
	return nil
}
