package e2e_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// published returns a function that reads the addresses in an ingress's status.
func published(ctx context.Context, namespace, name string) func() ([]networkingv1.IngressLoadBalancerIngress, error) {
	return func() ([]networkingv1.IngressLoadBalancerIngress, error) {
		found, err := here.client.NetworkingV1().Ingresses(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return found.Status.LoadBalancer.Ingress, nil
	}
}

// leader returns the holder of the lease.
func leader(ctx context.Context) (string, error) {
	found, err := here.client.CoordinationV1().Leases(system).Get(ctx, lease, metav1.GetOptions{})
	if err != nil || found.Spec.HolderIdentity == nil {
		return "", err
	}
	return *found.Spec.HolderIdentity, nil
}

var _ = Describe("the status of ingresses", Label("status"), func() {
	It("is the address of the load balancer", func(ctx context.Context) {
		ns := namespace(ctx, "status")
		backend(ctx, ns, "web", 1)
		here.put(ctx, route(ns, "web", "status.example", "/", "web"))
		Eventually(published(ctx, ns, "web")).WithContext(ctx).Should(ConsistOf(HaveField("IP", here.Node)))
	}, NodeTimeout(patience))

	It("is written by another controller when the leader is gone", Serial, Label("failover"), func(ctx context.Context) {
		ns := namespace(ctx, "failover")
		backend(ctx, ns, "web", 1)
		var before string
		Eventually(func() (string, error) {
			var err error
			before, err = leader(ctx)
			return before, err
		}).WithContext(ctx).ShouldNot(BeEmpty())
		Expect(here.client.CoreV1().Pods(system).Delete(ctx, before, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})).To(Succeed())
		Eventually(func() (string, error) { return leader(ctx) }).WithContext(ctx).ShouldNot(Or(BeEmpty(), Equal(before)))
		here.put(ctx, route(ns, "web", "failover.example", "/", "web"))
		Eventually(published(ctx, ns, "web")).WithContext(ctx).Should(ConsistOf(HaveField("IP", here.Node)))
		here.awaitRollout(ctx, system, controller)
	}, NodeTimeout(patience))
})

var _ = Describe("admission", Label("admission"), func() {
	It("rejects an ingress with a reason", func(ctx context.Context) {
		ns := namespace(ctx, "admission")
		backend(ctx, ns, "web", 1)
		here.put(ctx, route(ns, "web", "admission.example", "/", "web"))
		// Each controller answers from its own cache, which may lag.
		Eventually(func() error { return here.tryPut(ctx, route(ns, "second", "admission.example", "/", "web")) }).
			WithContext(ctx).WithTimeout(20 * time.Second).
			Should(MatchError(ContainSubstring(`host "admission.example" and path "/" is already defined in ingress admission/web`)))
		Expect(here.tryPut(ctx, route(ns, "snippet", "snippet.example", "/", "web", annotated("configuration-snippet", "return 200;")))).
			To(MatchError(ContainSubstring("snippets are disabled by the administrator")))
		Expect(here.tryPut(ctx, route(ns, "good", "good.example", "/", "web"))).To(Succeed())
	}, NodeTimeout(patience))
})
