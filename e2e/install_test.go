package e2e_test

import (
	"context"
	"net/netip"
	"strings"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/deploy"
	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/cluster"
)

const (
	controllerImage = "localhost/windtunnel-controller:dev"
	backendImage    = "localhost/windtunnel:dev"

	system     = "ingress-nginx"
	controller = "ingress-nginx-controller"
	pods       = "app.kubernetes.io/name=ingress-nginx,app.kubernetes.io/component=controller"
	lease      = "ingress-nginx-leader"
)

// overlay is a user's kustomization on top of deploy/, with the webhook, metrics, and TCP and UDP
// services. This cluster has no load balancer that checks the health of nodes, so each node accepts
// traffic for all pods (externalTrafficPolicy).
const overlay = `
resources: [../controller]
components: [../admission]
images:
- {name: windtunnel-controller, newName: localhost/windtunnel-controller, newTag: dev}
patches:
- target: {kind: Deployment}
  patch: |
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--tcp-services-configmap=$(POD_NAMESPACE)/tcp-services"}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--enable-metrics=true"}
    - {op: add, path: /spec/template/spec/containers/0/args/-, value: "--udp-services-configmap=$(POD_NAMESPACE)/udp-services"}
    - {op: add, path: /spec/template/spec/containers/0/ports/-, value: {name: tcp, containerPort: 9000}}
    - {op: add, path: /spec/template/spec/containers/0/ports/-, value: {name: udp, containerPort: 9001, protocol: UDP}}
- target: {kind: Service, name: ingress-nginx-controller}
  patch: |
    - {op: replace, path: /spec/externalTrafficPolicy, value: Cluster}
    - {op: add, path: /spec/ports/-, value: {name: tcp, port: 9000, targetPort: tcp}}
    - {op: add, path: /spec/ports/-, value: {name: udp, port: 9001, targetPort: udp, protocol: UDP}}
`

// install installs the controller as `kubectl apply -k` does, and waits for its two pods.
func (w *world) install(ctx context.Context) {
	pair := pki.New("ingress-nginx-admission").Issue("ingress-nginx-admission", []string{"ingress-nginx-admission.ingress-nginx.svc"})
	objects, err := deploy.Build("e2e", map[string]string{
		"e2e/kustomization.yaml": overlay,
		"admission/tls.crt":      string(pair.Certificate),
		"admission/tls.key":      string(pair.Key),
	})
	Expect(err).NotTo(HaveOccurred())
	for name, data := range map[string]map[string]string{"tcp-services": {"9000": "l4/tcp:8081"}, "udp-services": {"9001": "l4/udp:8081"}} {
		objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: system, Name: name}, Data: data})
	}
	w.put(ctx, objects...)
	w.awaitRollout(ctx, system, controller)
	// Publish the address of the Service, as the controller of a load balancer does.
	service, err := w.client.CoreV1().Services(system).Get(ctx, controller, metav1.GetOptions{})
	Expect(err).NotTo(HaveOccurred())
	service.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: w.Node}}
	_, err = w.client.CoreV1().Services(system).UpdateStatus(ctx, service, metav1.UpdateOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// put creates or updates objects, and expects success.
func (w *world) put(ctx context.Context, objects ...runtime.Object) {
	for _, object := range objects {
		ExpectWithOffset(1, w.tryPut(ctx, object)).To(Succeed())
	}
}

func (w *world) tryPut(ctx context.Context, object runtime.Object) error {
	untyped, err := cluster.Object(object)
	if err == nil {
		_, err = w.objects.Put(ctx, untyped)
	}
	return err
}

// awaitRollout waits until all replicas of a Deployment are updated and available, and no old ones
// are left.
func (w *world) awaitRollout(ctx context.Context, namespace, name string) {
	EventuallyWithOffset(1, func(g Gomega) {
		d, err := w.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(d.Status.ObservedGeneration).To(BeNumerically(">=", d.Generation))
		want := *d.Spec.Replicas
		g.Expect(d.Status).To(Satisfy(func(s appsv1.DeploymentStatus) bool {
			return s.Replicas == want && s.UpdatedReplicas == want && s.AvailableReplicas == want
		}))
	}).WithContext(ctx).WithTimeout(patience).Should(Succeed())
}

// listener returns the address of a port of the controller's Service for clients outside the cluster.
func (w *world) listener(ctx context.Context, port string) netip.AddrPort {
	service, err := w.client.CoreV1().Services(system).Get(ctx, controller, metav1.GetOptions{})
	ExpectWithOffset(1, err).NotTo(HaveOccurred())
	for _, p := range service.Spec.Ports {
		if p.Name == port {
			return netip.AddrPortFrom(netip.MustParseAddr(w.Node), uint16(p.NodePort))
		}
	}
	panic("the Service has no port " + strings.ToUpper(port))
}

// controllers returns the controller's pods that are not terminating.
func (w *world) controllers(ctx context.Context) []corev1.Pod {
	list, err := w.client.CoreV1().Pods(system).List(ctx, metav1.ListOptions{LabelSelector: pods})
	ExpectWithOffset(1, err).NotTo(HaveOccurred())
	var live []corev1.Pod
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			live = append(live, pod)
		}
	}
	return live
}
