package status

import (
	"context"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"golang.org/x/sync/errgroup"
)

// parallel is the number of concurrent writes, as in ingress-nginx.
const parallel = 10

// writer writes addresses into ingresses.
type writer struct{ Options }

// update writes the current addresses. After an error, Run retries at the next interval.
func (w writer) update(ctx context.Context) {
	addresses, err := w.Addresses.look(ctx, w.Client, w.Pod)
	if err == nil {
		err = w.write(ctx, addresses)
	}
	if err != nil && ctx.Err() == nil {
		w.Log.Warn("updating the status of ingresses failed; trying again", "after", w.Interval, "error", err.Error())
	}
}

// withdraw removes the addresses, unless another controller serves at them. It assumes one if there
// are several addresses or other pods of this controller.
func (w writer) withdraw(ctx context.Context) {
	addresses, err := w.Addresses.look(ctx, w.Client, w.Pod)
	if err != nil || len(addresses) > 1 {
		return
	}
	if pods, err := siblings(ctx, w.Client, w.Pod); err != nil || len(pods) > 1 {
		return
	}
	if err := w.write(ctx, nil); err != nil {
		w.Log.Warn("removing the addresses of ingresses failed", "error", err.Error())
	}
}

// write writes the addresses into all ingresses. It returns the first error, but still writes the
// other ingresses.
func (w writer) write(ctx context.Context, addresses []networkingv1.IngressLoadBalancerIngress) error {
	var group errgroup.Group
	group.SetLimit(parallel)
	for _, ingress := range w.Ingresses() {
		if !has(ingress, addresses) {
			group.Go(func() error { return w.writeTo(ctx, ingress, addresses) })
		}
	}
	return group.Wait()
}

// writeTo updates the newest version of an ingress, which may be newer than the served one.
func (w writer) writeTo(ctx context.Context, ingress *networkingv1.Ingress, addresses []networkingv1.IngressLoadBalancerIngress) error {
	client := w.Client.NetworkingV1().Ingresses(ingress.Namespace)
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		newest, err := client.Get(ctx, ingress.Name, metav1.GetOptions{})
		if err != nil || has(newest, addresses) {
			return err
		}
		newest.Status.LoadBalancer.Ingress = addresses
		_, err = client.UpdateStatus(ctx, newest, metav1.UpdateOptions{})
		return err
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// has reports whether the status of an ingress has exactly these addresses, in any order. addresses
// contains no duplicates; the status, which others may write, may contain some.
func has(ingress *networkingv1.Ingress, addresses []networkingv1.IngressLoadBalancerIngress) bool {
	present := ingress.Status.LoadBalancer.Ingress
	return len(present) == len(addresses) && !slices.ContainsFunc(addresses, func(one networkingv1.IngressLoadBalancerIngress) bool {
		return !slices.ContainsFunc(present, func(other networkingv1.IngressLoadBalancerIngress) bool {
			return equality.Semantic.DeepEqual(one, other)
		})
	})
}
