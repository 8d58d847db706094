package installed

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/cluster"
)

// leftover is an earlier run of which namespaces are left.
type leftover struct {
	run string
	// until is when its Lease ends. If that is over, the run was killed.
	until time.Time
}

// leftovers returns all runs that have namespaces in the cluster.
func (d *Driver) leftovers(ctx context.Context) ([]leftover, error) {
	list, err := d.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		return nil, fmt.Errorf("look for leftovers of earlier runs: %w", err)
	}
	byRun := map[string][]corev1.Namespace{}
	for _, one := range list.Items {
		run := one.Labels[RunLabel]
		byRun[run] = append(byRun[run], one)
	}
	var all []leftover
	for run, namespaces := range byRun {
		until, err := leaseOf(run).Expires(ctx, d.client, youngest(namespaces))
		if err != nil {
			return nil, err
		}
		all = append(all, leftover{run, until})
	}
	slices.SortFunc(all, func(a, b leftover) int { return strings.Compare(a.run, b.run) })
	return all, nil
}

// youngest returns when the last of the namespaces was created.
func youngest(namespaces []corev1.Namespace) (made time.Time) {
	for _, one := range namespaces {
		if one.CreationTimestamp.After(made) {
			made = one.CreationTimestamp.Time
		}
	}
	return made
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
		if err := d.removeRun(ctx, one.run, func(ctx context.Context) error { return d.restoreFor(ctx, one.run) }); err != nil {
			return err
		}
	}
	return nil
}

// restoreFor gives the controller's ConfigMap the values back that a killed run has changed.
func (d *Driver) restoreFor(ctx context.Context, run string) error {
	b := &backup{run}
	killed, err := b.read(ctx, d.client)
	switch {
	case err != nil || killed == nil:
		return err
	case killed.name != d.ConfigMap:
		return fmt.Errorf("run %s was killed before it restored the ConfigMap %s: restore it by a run with --config-map=%s (%s has its former values)", run, killed.name, killed.name, b)
	}
	return killed.restore(ctx)
}

// namespacedName parses namespace/name.
func namespacedName(text string) types.NamespacedName {
	namespace, name, _ := strings.Cut(text, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}
}
