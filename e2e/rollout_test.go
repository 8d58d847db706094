package e2e_test

import (
	"context"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kindcluster"
)

// underLoad sends requests to a host with four pods, calls do, and returns the results of the
// requests.
func underLoad(ctx context.Context, name string, do func(ns string)) map[string]tally {
	ns := namespace(ctx, name)
	host := name + ".example"
	backend(ctx, ns, "web", 4)
	here.put(ctx, route(ns, "web", host, "/", "web"))
	awaitServed(ctx, host, "/", ns+"/web")
	l := startLoad(here.listener(ctx, "http"), host, ns+"/web", "http", "post")
	l.sent(ctx, 100)
	do(ns)
	l.sent(ctx, 200) // to see delayed effects
	return l.end()
}

// idleClosesAlone expects that requests were lost only when nginx closed an idle keepalive
// connection, which HTTP allows at any time. Clients that may retry do so; clients of the lane post
// may not.
func idleClosesAlone(lost map[string]tally) {
	GinkgoHelper()
	Expect(lost["http"].Lost).To(BeEmpty(), lost["http"].String())
	for cause := range lost["post"].Lost {
		Expect(cause).To(Equal(event.IdleClose), lost["post"].String())
	}
}

// explained expects that each lost request has a cause that fits the loss of a server process or
// network. A restarted nginx answers 503 until it has received its backends. It still gets requests
// during this time, because the kubelet restarts it before kube-proxy, which checks once a second,
// notices that it was gone.
func explained(lost map[string]tally) {
	GinkgoHelper()
	for lane, t := range lost {
		for cause := range t.Lost {
			Expect(cause).To(BeElementOf(event.IdleClose, event.Reset, event.Refused, event.EOF, event.Truncated, event.Timeout, event.NginxError), "%s: %s", lane, t)
		}
	}
}

// nobodyLost expects that the next requests of new clients succeed.
func nobodyLost(ctx context.Context, ns, host string) {
	GinkgoHelper()
	l := startLoad(here.listener(ctx, "http"), host, ns+"/web", "http", "post")
	l.sent(ctx, 100)
	for lane, t := range l.end() {
		Expect(t.Lost).To(BeEmpty(), "%s: %s", lane, t)
	}
}

var _ = Describe("under load", Label("load"), Serial, func() {
	It("a rolling update of draining pods loses no requests", Label("pods"), func(ctx context.Context) {
		lost := underLoad(ctx, "rolling", func(ns string) {
			restart(ctx, ns, "web")
			here.awaitRollout(ctx, ns, "web")
		})
		Expect(lost["http"].Lost).To(BeEmpty(), lost["http"].String())
		Expect(lost["post"].Lost).To(BeEmpty(), lost["post"].String())
	}, NodeTimeout(patience))

	It("a rolling update of the controller loses no requests", Label("controller"), func(ctx context.Context) {
		idleClosesAlone(underLoad(ctx, "upgrade", func(string) {
			restart(ctx, system, controller)
			here.awaitRollout(ctx, system, controller)
			Eventually(func() int { return terminating(ctx) }).WithContext(ctx).WithTimeout(patience).Should(BeZero())
		}))
	}, NodeTimeout(2*patience))

	It("a killed controller is restarted, and each lost request has a known cause", Label("kill"), func(ctx context.Context) {
		explained(underLoad(ctx, "killed", func(ns string) {
			for _, victim := range here.controllers(ctx) { // any of them may have the connections
				status := victim.Status.ContainerStatuses[0]
				process, err := kindcluster.Main(strings.TrimPrefix(status.ContainerID, "containerd://"))
				Expect(err).NotTo(HaveOccurred())
				Expect(syscall.Kill(process, syscall.SIGKILL)).To(Succeed())
				Eventually(func(g Gomega) {
					pod, err := here.client.CoreV1().Pods(system).Get(ctx, victim.Name, metav1.GetOptions{})
					g.Expect(err).NotTo(HaveOccurred())
					again := pod.Status.ContainerStatuses[0]
					g.Expect(again.RestartCount).To(Equal(status.RestartCount + 1))
					g.Expect(again.Ready).To(BeTrue())
				}).WithContext(ctx).Should(Succeed())
			}
			nobodyLost(ctx, ns, "killed.example")
		}))
	}, NodeTimeout(patience))

	It("draining a node loses no requests", Label("drain"), func(ctx context.Context) {
		idleClosesAlone(underLoad(ctx, "drained", func(string) {
			node := here.controllers(ctx)[0].Spec.NodeName
			cordon(ctx, node, true)
			DeferCleanup(cordon, node, false)
			evictAll(ctx, node)
			here.awaitRollout(ctx, system, controller)
		}))
	}, NodeTimeout(2*patience))
})

// terminating returns the number of terminating controller pods.
func terminating(ctx context.Context) int {
	list, err := here.client.CoreV1().Pods(system).List(ctx, metav1.ListOptions{LabelSelector: pods})
	Expect(err).NotTo(HaveOccurred())
	return len(list.Items) - len(here.controllers(ctx))
}

func cordon(ctx context.Context, node string, is bool) {
	patch := `{"spec":{"unschedulable":true}}`
	if !is {
		patch = `{"spec":{"unschedulable":null}}`
	}
	_, err := here.client.CoreV1().Nodes().Patch(ctx, node, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	ExpectWithOffset(1, err).NotTo(HaveOccurred())
}

// evictAll evicts a node's pods as `kubectl drain` does. It retries when a disruption budget
// rejects an eviction, and returns when the pods are gone.
func evictAll(ctx context.Context, node string) {
	EventuallyWithOffset(1, func(g Gomega) {
		list, err := here.client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		g.Expect(err).NotTo(HaveOccurred())
		left := 0
		for _, pod := range list.Items {
			if ofNode(pod) {
				continue
			}
			left++
			if pod.DeletionTimestamp != nil {
				continue
			}
			err := here.client.CoreV1().Pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}})
			if !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) {
				g.Expect(err).NotTo(HaveOccurred())
			}
		}
		g.Expect(left).To(BeZero())
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
}

// ofNode reports whether a pod belongs to its node: a pod of a DaemonSet, or a static one.
func ofNode(pod corev1.Pod) bool {
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "DaemonSet" || owner.Kind == "Node" {
			return true
		}
	}
	return false
}
