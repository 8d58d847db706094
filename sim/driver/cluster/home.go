package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
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

// restricted are the labels of a namespace that enforces the Pod Security Standard of that name.
var restricted = map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}

// home is the namespace of a subject. A run with several subjects has several. Beside it may be further
// ones, with nothing but objects of the scenario.
type home struct {
	client kubernetes.Interface
	run    string // its name, the value of RunLabel

	endLease func() // nil if there is none
}

// name is the name of the namespace, and of the run's cluster-wide objects.
func (h *home) name() string { return prefix + h.run }

// beside returns the name of a further namespace. If it is too long, it is cut, and ends in a hash.
func (h *home) beside(name string) string {
	all := h.name() + "-" + name
	if len(all) <= validation.DNS1123LabelMaxLength {
		return all
	}
	sum := sha256.Sum256([]byte(name))
	end := "-" + hex.EncodeToString(sum[:4])
	return all[:validation.DNS1123LabelMaxLength-len(end)] + end
}

// has reports whether a namespace is the home, or beside it.
func (h *home) has(namespace corev1.Namespace) bool {
	return namespace.Labels[RunLabel] == h.run && (namespace.Name == h.name() || strings.HasPrefix(namespace.Name, h.name()+"-"))
}

func (h *home) labels() map[string]string {
	return map[string]string{cluster.MadeByLabel: cluster.MadeBy, RunLabel: h.run}
}

// begin creates the namespace with its Lease, and renews the Lease until the run ends.
func (h *home) begin(ctx context.Context) error {
	if err := h.create(ctx, h.name()); err != nil {
		return err
	}
	release, err := h.lease().Hold(ctx, h.client)
	if err != nil {
		return err
	}
	h.endLease = release
	return nil
}

// create creates a namespace of the run.
func (h *home) create(ctx context.Context, name string) error {
	labels := h.labels()
	maps.Copy(labels, restricted)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	if _, err := h.client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
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
	err := errors.Join(h.removeClusterWide(ctx), h.removeNamespaces(ctx))
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

// removeNamespaces deletes the namespaces, and returns when they are gone.
func (h *home) removeNamespaces(ctx context.Context) error {
	api := h.client.CoreV1().Namespaces()
	return cluster.Retry(ctx, func(ctx context.Context) (bool, error) {
		found, err := api.List(ctx, metav1.ListOptions{LabelSelector: RunLabel + "=" + h.run})
		if err != nil {
			return false, err
		}
		left := false
		for _, one := range found.Items {
			if !h.has(one) {
				continue
			}
			left = true
			if one.DeletionTimestamp == nil {
				err = errors.Join(err, gone(api.Delete(ctx, one.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &one.UID}})))
			}
		}
		return !left, err
	})
}
