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

// leftovers returns all runs that have namespaces in the cluster.
func (d *Driver) leftovers(ctx context.Context) ([]cluster.Leftover, error) {
	list, err := d.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: RunLabel})
	if err != nil {
		return nil, fmt.Errorf("look for leftovers of earlier runs: %w", err)
	}
	byRun := map[string][]corev1.Namespace{}
	for _, one := range list.Items {
		run := one.Labels[RunLabel]
		byRun[run] = append(byRun[run], one)
	}
	var all []cluster.Leftover
	for run, namespaces := range byRun {
		expires, err := leaseOf(run).Expires(ctx, d.client, youngest(namespaces))
		if err != nil {
			return nil, err
		}
		all = append(all, cluster.Leftover{Run: run, Expires: expires, Remove: func(ctx context.Context) error {
			return d.removeRun(ctx, run, func(ctx context.Context) error { return d.restoreFor(ctx, run) })
		}})
	}
	slices.SortFunc(all, func(a, b cluster.Leftover) int { return strings.Compare(a.Run, b.Run) })
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
