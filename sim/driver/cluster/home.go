package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/cluster"
)

// RunLabel is the label of everything that a run creates; its value is the run's name.
const RunLabel = "windtunnel.dev/scenario-run"

const (
	// prefix begins the names of namespaces and of cluster-wide objects, before the run's name.
	prefix = "windtunnel-run-"
	// leaseName is the name of the Lease in the namespace. As long as it is renewed, the run lives.
	leaseName = "run"
	// leaseDuration is how long a run lives without renewing its Lease.
	leaseDuration = time.Minute
	// cleanupTimeout limits how long the removal of a run's objects may take.
	cleanupTimeout = 3 * time.Minute
)

// home is the namespace of a subject. A run with several subjects has several.
type home struct {
	client kubernetes.Interface
	run    string // its name, the value of RunLabel

	endLease func() // nil if there is none
}

// name is the name of the namespace, and of the run's cluster-wide objects.
func (h *home) name() string { return prefix + h.run }

func (h *home) labels() map[string]string {
	return map[string]string{cluster.MadeByLabel: cluster.MadeBy, RunLabel: h.run}
}

// begin creates the namespace with its Lease, and renews the Lease until the run ends. All pods of the
// namespace comply with the Pod Security Standard "restricted", which it enforces.
func (h *home) begin(ctx context.Context) error {
	about := h.labels()
	about["pod-security.kubernetes.io/enforce"] = "restricted"
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.name(), Labels: about}}
	if _, err := h.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", h.name(), err)
	}
	release, err := h.lease().Hold(ctx, h.client)
	if err != nil {
		return err
	}
	h.endLease = release
	return nil
}

// lease is the Lease in the namespace.
func (h *home) lease() cluster.Lease {
	return cluster.Lease{Namespace: h.name(), Name: leaseName, Labels: h.labels(), Duration: leaseDuration}
}

// remove removes everything that the run has created, and returns when it is gone. It does so even
// if ctx has ended, because other users of the cluster would be left with the objects.
func (h *home) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanupTimeout, fmt.Errorf("timed out after %v", cleanupTimeout))
	defer cancel()
	err := errors.Join(h.removeClusterWide(ctx), h.removeNamespace(ctx))
	if h.endLease != nil {
		h.endLease()
	}
	if err != nil {
		return fmt.Errorf("objects of run %s are left: %w; remove them with kubectl delete namespaces,ingressclasses,clusterroles,clusterrolebindings -l %s=%[1]s", h.run, err, RunLabel)
	}
	return nil
}

// removeClusterWide deletes the run's objects that are in no namespace.
func (h *home) removeClusterWide(ctx context.Context) error {
	ours := metav1.ListOptions{LabelSelector: RunLabel + "=" + h.run}
	rbac := h.client.RbacV1()
	return cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		classes, err := h.client.NetworkingV1().IngressClasses().List(ctx, ours)
		if err != nil {
			return false, err
		}
		bindings, err := rbac.ClusterRoleBindings().List(ctx, ours)
		if err != nil {
			return false, err
		}
		roles, err := rbac.ClusterRoles().List(ctx, ours)
		if err != nil {
			return false, err
		}
		for _, one := range classes.Items {
			err = errors.Join(err, gone(h.client.NetworkingV1().IngressClasses().Delete(ctx, one.Name, metav1.DeleteOptions{})))
		}
		for _, one := range bindings.Items {
			err = errors.Join(err, gone(rbac.ClusterRoleBindings().Delete(ctx, one.Name, metav1.DeleteOptions{})))
		}
		for _, one := range roles.Items {
			err = errors.Join(err, gone(rbac.ClusterRoles().Delete(ctx, one.Name, metav1.DeleteOptions{})))
		}
		return err == nil, err
	})
}

// gone returns nil for an error that means that an object no longer exists, and any other error unchanged.
func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// removeNamespace deletes the namespace, and returns when it is gone.
func (h *home) removeNamespace(ctx context.Context) error {
	api := h.client.CoreV1().Namespaces()
	return cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		found, err := api.Get(ctx, h.name(), metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil || found.DeletionTimestamp != nil:
			return false, err
		case found.Labels[RunLabel] != h.run:
			return false, fmt.Errorf("the namespace %s belongs to another run", h.name())
		}
		return false, gone(api.Delete(ctx, h.name(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &found.UID}}))
	})
}
