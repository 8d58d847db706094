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

// underLoad serves a host by four pods, sends to it, does something, and tells what
// became of the requests.
func underLoad(ctx context.Context, name string, do func(ns string)) map[string]tally {
	ns := namespace(ctx, name)
	host := name + ".example"
	backend(ctx, ns, "web", 4)
	here.put(ctx, route(ns, "web", host, "/", "web"))
	awaitServed(ctx, host, "/", ns+"/web")
	l := startLoad(here.door(ctx, "http"), host, ns+"/web", "http", "post")
	l.sent(ctx, 100)
	do(ns)
	l.sent(ctx, 200) // and nothing comes late
	return l.end()
}

// idleClosesAlone expects that nothing was lost but requests which met a kept
// connection as nginx closed it, as HTTP allows at any time: clients that may send
// again do so, those of the lane post may not.
func idleClosesAlone(lost map[string]tally) {
	GinkgoHelper()
	Expect(lost["http"].Lost).To(BeEmpty(), lost["http"].String())
	for cause := range lost["post"].Lost {
		Expect(cause).To(Equal(event.IdleClose), lost["post"].String())
	}
}

// explained expects that each lost request has a cause that the loss of a server's
// process or network has. An nginx that is started again answers 503 until it has
// been told its backends, to whom the network still sends it: kubelets start it
// sooner than kube-proxy, which looks once a second, hears that it was gone.
func explained(lost map[string]tally) {
	GinkgoHelper()
	for lane, t := range lost {
		for cause := range t.Lost {
			Expect(cause).To(BeElementOf(event.IdleClose, event.Reset, event.Refused, event.EOF, event.Truncated, event.Timeout, event.NginxError), "%s: %s", lane, t)
		}
	}
}

// nobodyLost expects the next requests, of new clients, to be served.
func nobodyLost(ctx context.Context, ns, host string) {
	GinkgoHelper()
	l := startLoad(here.door(ctx, "http"), host, ns+"/web", "http", "post")
	l.sent(ctx, 100)
	for lane, t := range l.end() {
		Expect(t.Lost).To(BeEmpty(), "%s: %s", lane, t)
	}
}

var _ = Describe("under load", Label("load"), Serial, func() {
	It("a rolling update of pods that drain loses nothing", Label("pods"), func(ctx context.Context) {
		lost := underLoad(ctx, "rolling", func(ns string) {
			restart(ctx, ns, "web")
			here.awaitRollout(ctx, ns, "web")
		})
		Expect(lost["http"].Lost).To(BeEmpty(), lost["http"].String())
		Expect(lost["post"].Lost).To(BeEmpty(), lost["post"].String())
	}, NodeTimeout(patience))

	It("a rolling update of the controller loses nothing", Label("controller"), func(ctx context.Context) {
		idleClosesAlone(underLoad(ctx, "upgrade", func(string) {
			restart(ctx, system, controller)
			here.awaitRollout(ctx, system, controller)
			Eventually(func() int { return terminating(ctx) }).WithContext(ctx).WithTimeout(patience).Should(BeZero())
		}))
	}, NodeTimeout(2*patience))

	It("a controller that is killed is started again, and what it held is lost for a known cause", Label("kill"), func(ctx context.Context) {
		explained(underLoad(ctx, "killed", func(ns string) {
			for _, victim := range here.controllers(ctx) { // one of them has the connections
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

	It("a node that is drained takes no requests with it", Label("drain"), func(ctx context.Context) {
		idleClosesAlone(underLoad(ctx, "drained", func(string) {
			node := here.controllers(ctx)[0].Spec.NodeName
			cordon(ctx, node, true)
			DeferCleanup(cordon, node, false)
			evictAll(ctx, node)
			here.awaitRollout(ctx, system, controller)
		}))
	}, NodeTimeout(2*patience))
})

// terminating counts the controllers that drain.
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

// evictAll asks for the end of a node's pods as `kubectl drain` does, as often as a
// disruption budget refuses it, until they are gone.
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

// ofNode says that a pod belongs to its node: a DaemonSet's, or static.
func ofNode(pod corev1.Pod) bool {
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "DaemonSet" || owner.Kind == "Node" {
			return true
		}
	}
	return false
}
