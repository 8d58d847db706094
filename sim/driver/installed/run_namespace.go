package installed

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/cluster"
)

// RunLabel is the label of everything that a run creates; its value is the run's name.
const RunLabel = "windtunnel.dev/case-run"

const (
	// homePrefix is the start of the name of a run's own namespace, before the run's name.
	homePrefix = "windtunnel-cases-"
	// leaseName is the name of the Lease in that namespace. As long as it is renewed, the run lives.
	leaseName = "run"
	// leaseDuration is how long a run lives without renewing its Lease.
	leaseDuration = 3 * time.Minute
	// cleanupTimeout limits how long the removal of a run's objects may take.
	cleanupTimeout = 3 * time.Minute
)

func labels(run string) map[string]string {
	return map[string]string{cluster.MadeByLabel: cluster.MadeBy, RunLabel: run}
}

// begin creates the run's own namespace with its Lease, and renews the Lease until the run ends.
func (i *instance) begin(ctx context.Context) error {
	client, about := i.driver.client, labels(i.run)
	if _, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: i.Namespace(), Labels: about}}, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", i.Namespace(), err)
	}
	release, err := leaseOf(i.run).Hold(ctx, client)
	if err != nil {
		return err
	}
	i.endLease = release
	return nil
}

// leaseOf is the Lease of a run, in its own namespace.
func leaseOf(run string) cluster.Lease {
	return cluster.Lease{Namespace: homePrefix + run, Name: leaseName, Labels: labels(run), Duration: leaseDuration}
}

// removeRun removes everything that a run created. restore gives the ConfigMap of the controller its
// values back. The run's own namespace, with what is needed to restore the ConfigMap, goes last.
func (d *Driver) removeRun(ctx context.Context, run string, restore func(context.Context) error) error {
	unrestored := restore(ctx)
	left := d.removeClasses(ctx, run)
	others, home, err := d.namespacesOf(ctx, run)
	left = errors.Join(left, err, d.removeNamespaces(ctx, others))
	if unrestored != nil {
		return errors.Join(unrestored, left)
	}
	if left == nil {
		left = d.removeNamespaces(ctx, home)
	}
	if left != nil {
		return fmt.Errorf("objects of run %s are left: %w; remove them with kubectl delete namespaces,ingressclasses -l %s=%s", run, left, RunLabel, run)
	}
	return nil
}

// namespacesOf returns the namespaces of a run: the run's own one in home, and those of its cases.
func (d *Driver) namespacesOf(ctx context.Context, run string) (cases, home []corev1.Namespace, err error) {
	err = cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		list, err := d.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{LabelSelector: RunLabel + "=" + run})
		if err != nil {
			return false, err
		}
		cases, home = nil, nil
		for _, one := range list.Items {
			if one.Name == homePrefix+run {
				home = append(home, one)
			} else {
				cases = append(cases, one)
			}
		}
		return true, nil
	})
	return cases, home, err
}

// removeNamespaces deletes namespaces, and returns when they are gone. It does not delete other
// namespaces that have got the same names in the meantime.
func (d *Driver) removeNamespaces(ctx context.Context, all []corev1.Namespace) error {
	api := d.client.CoreV1().Namespaces()
	for _, one := range all {
		err := cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
			err := api.Delete(ctx, one.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &one.UID}})
			if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // it is another one, or is being deleted
				err = nil
			}
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("delete namespace %s: %w", one.Name, err)
		}
	}
	for _, one := range all {
		err := cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
			found, err := api.Get(ctx, one.Name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return err == nil && found.UID != one.UID, err
		})
		if err != nil {
			return fmt.Errorf("wait until namespace %s is gone: %w", one.Name, err)
		}
	}
	return nil
}

// removeClasses deletes the IngressClasses of a run.
func (d *Driver) removeClasses(ctx context.Context, run string) error {
	classes := d.client.NetworkingV1().IngressClasses()
	return cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		list, err := classes.List(ctx, metav1.ListOptions{LabelSelector: RunLabel + "=" + run})
		if err != nil {
			return false, err
		}
		for _, one := range list.Items {
			if err := classes.Delete(ctx, one.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &one.UID}}); err != nil && !apierrors.IsNotFound(err) {
				return false, err
			}
		}
		return true, nil
	})
}
