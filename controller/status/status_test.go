package status

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// limit bounds each wait. It elapses only if a test fails.
const limit = 30 * time.Second

// cluster is an API server with an ingress and a pod of a controller.
type cluster struct {
	*testing.T
	api    *kubeapi.Server
	client kubernetes.Interface
	pod    *corev1.Pod
}

func start(t *testing.T) *cluster {
	t.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	client, err := kubernetes.NewForConfig(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{T: t, api: api, client: client}
	c.pod = c.addPod("controller-0", "node-0")
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: networkingv1.IngressSpec{
		DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}}}
	_, err = client.NetworkingV1().Ingresses("default").Create(t.Context(), ingress, metav1.CreateOptions{})
	c.must(err)
	return c
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) addPod(name, node string) *corev1.Pod {
	c.Helper()
	meta := metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "ingress-nginx", "pod-template-hash": name, "statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": name}}
	pod, err := c.client.CoreV1().Pods("default").Create(c.Context(), &corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{
		NodeName: node, Containers: []corev1.Container{{Name: "controller", Image: "controller"}}}}, metav1.CreateOptions{})
	c.must(err)
	return pod
}

func (c *cluster) setReady(pod *corev1.Pod) {
	c.Helper()
	pod = pod.DeepCopy()
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, err := c.client.CoreV1().Pods("default").UpdateStatus(c.Context(), pod, metav1.UpdateOptions{})
	c.must(err)
}

// deleteSlowly deletes a pod that remains, because of a finalizer.
func (c *cluster) deleteSlowly(name string) {
	c.Helper()
	pods := c.client.CoreV1().Pods("default")
	_, err := pods.Patch(c.Context(), name, types.MergePatchType, []byte(`{"metadata": {"finalizers": ["example.com/keep"]}}`), metav1.PatchOptions{})
	c.must(err)
	c.must(pods.Delete(c.Context(), name, metav1.DeleteOptions{}))
	_, err = pods.Get(c.Context(), name, metav1.GetOptions{})
	c.must(err)
}

func (c *cluster) addNode(name string, addresses ...corev1.NodeAddress) {
	c.Helper()
	node, err := c.client.CoreV1().Nodes().Create(c.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	c.must(err)
	node.Status.Addresses = addresses
	_, err = c.client.CoreV1().Nodes().UpdateStatus(c.Context(), node, metav1.UpdateOptions{})
	c.must(err)
}

func (c *cluster) ingress() *networkingv1.Ingress {
	c.Helper()
	ingress, err := c.client.NetworkingV1().Ingresses("default").Get(context.Background(), "web", metav1.GetOptions{})
	c.must(err)
	return ingress
}

func addressesOf(ingress *networkingv1.Ingress) []string {
	var texts []string
	for _, a := range ingress.Status.LoadBalancer.Ingress {
		texts = append(texts, a.IP+a.Hostname)
	}
	return texts
}

// await polls until the ingress has the addresses.
func (c *cluster) await(want ...string) {
	c.Helper()
	var got []string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if got = addressesOf(c.ingress()); slices.Equal(got, want) {
			return
		}
	}
	c.Fatalf("addresses %v, want %v", got, want)
}

// options returns the options of a controller that runs in a pod.
func (c *cluster) options(pod *corev1.Pod, fixed string) Options {
	return Options{
		Client:    c.client,
		Pod:       pod,
		Election:  Election{ID: "leader", TTL: time.Second},
		Addresses: Addresses{Fixed: []string{fixed}},
		Ingresses: func() []*networkingv1.Ingress { return []*networkingv1.Ingress{c.ingress()} },
		Update:    true,
		Interval:  time.Hour,
		Leader:    func(bool) {},
		Log:       slog.New(slog.DiscardHandler),
	}
}

// run starts a controller. stop ends it and waits until it has ended.
func (c *cluster) run(o Options) (leads <-chan bool, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	calls, ended := make(chan bool, 100), make(chan struct{})
	o.Leader = func(is bool) { calls <- is }
	go func() {
		defer close(ended)
		Run(ctx, o)
	}()
	stop = func() { cancel(); <-ended }
	c.Cleanup(stop)
	return calls, stop
}

func (c *cluster) awaitLead(leads <-chan bool, want bool) {
	c.Helper()
	select {
	case got := <-leads:
		if got != want {
			c.Fatalf("leader: %v, want %v", got, want)
		}
	case <-time.After(limit):
		c.Fatalf("Leader was not called with %v", want)
	}
}

func TestLeaderWritesAndTheNextTakesOver(t *testing.T) {
	c := start(t)
	first, stop := c.run(c.options(c.pod, "10.0.0.1"))
	c.awaitLead(first, true)
	c.await("10.0.0.1")
	second, _ := c.run(c.options(c.addPod("controller-1", "node-1"), "10.0.0.2"))
	if len(second) > 0 {
		t.Error("there are two leaders")
	}
	stop() // releases the lease
	c.awaitLead(first, false)
	c.awaitLead(second, true)
	c.await("10.0.0.2")
}

func TestLeaderThatLosesTheLeaseIsElectedAgain(t *testing.T) {
	c := start(t)
	leads, _ := c.run(c.options(c.pod, "10.0.0.1"))
	c.awaitLead(leads, true)
	heal, err := c.api.Inject(fault.LeaseRefused(), fault.Scope{})
	c.must(err)
	c.awaitLead(leads, false)
	heal()
	c.awaitLead(leads, true)
}

func TestWithoutUpdateStatusTheLeaderWritesNothing(t *testing.T) {
	c := start(t)
	o := c.options(c.pod, "10.0.0.1")
	o.Update = false
	before := c.ingress().ResourceVersion
	leads, stop := c.run(o)
	c.awaitLead(leads, true)
	stop()
	c.awaitLead(leads, false)
	if got := c.ingress(); got.ResourceVersion != before {
		t.Errorf("the ingress was written: %v", got.Status)
	}
}

func TestEqualStatusIsNotWritten(t *testing.T) {
	c := start(t)
	w := writer{c.options(c.pod, "lb.example")}
	w.update(t.Context())
	before := c.ingress()
	if got := addressesOf(before); !slices.Equal(got, []string{"lb.example"}) {
		t.Fatalf("addresses %v", got)
	}
	w.Ingresses = func() []*networkingv1.Ingress { return []*networkingv1.Ingress{{ObjectMeta: before.ObjectMeta}} } // without a status: stale
	w.update(t.Context())
	if after := c.ingress(); after.ResourceVersion != before.ResourceVersion {
		t.Error("the ingress was written again")
	}
}

// A duplicate address is no substitute for a missing one.
func TestDuplicateAddressIsReplaced(t *testing.T) {
	c := start(t)
	ingress := c.ingress()
	ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "10.0.0.1"}, {IP: "10.0.0.1"}}
	_, err := c.client.NetworkingV1().Ingresses("default").UpdateStatus(t.Context(), ingress, metav1.UpdateOptions{})
	c.must(err)
	w := writer{c.options(c.pod, "")}
	w.Addresses.Fixed = []string{"10.0.0.1", "10.0.0.2"}
	w.update(t.Context())
	if got, want := addressesOf(c.ingress()), w.Addresses.Fixed; !slices.Equal(got, want) {
		t.Errorf("addresses %v, want %v", got, want)
	}
}

// A deleted ingress does not prevent writing the others.
func TestDeletedIngressIsNotAnError(t *testing.T) {
	c := start(t)
	o := c.options(c.pod, "10.0.0.1")
	served := c.ingress()
	o.Ingresses = func() []*networkingv1.Ingress {
		return []*networkingv1.Ingress{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "gone"}}, served}
	}
	if err := (writer{o}).write(t.Context(), []networkingv1.IngressLoadBalancerIngress{address("10.0.0.1")}); err != nil {
		t.Error(err)
	}
	c.await("10.0.0.1")
}

func TestShutdownRemovesTheAddresses(t *testing.T) {
	for name, test := range map[string]struct {
		fixed   string
		flag    bool
		another bool
		want    []string
	}{
		"the only pod": {fixed: "10.0.0.1", flag: true, want: nil},
		"flag is off":  {fixed: "10.0.0.1", want: []string{"10.0.0.1"}},
		"another pod":  {fixed: "10.0.0.1", flag: true, another: true, want: []string{"10.0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			if test.another {
				c.addPod("controller-1", "node-1")
			}
			o := c.options(c.pod, test.fixed)
			o.OnShutdown = test.flag
			_, stop := c.run(o)
			c.await("10.0.0.1")
			stop()
			if got := addressesOf(c.ingress()); !slices.Equal(got, test.want) {
				t.Errorf("addresses %v, want %v", got, test.want)
			}
		})
	}
	t.Run("several addresses", func(t *testing.T) {
		c := start(t)
		w := writer{c.options(c.pod, "10.0.0.1")}
		w.Addresses.Fixed = []string{"10.0.0.1", "10.0.0.2"}
		w.update(t.Context())
		w.withdraw(t.Context())
		c.await("10.0.0.1", "10.0.0.2")
	})
}

func TestAddressesOfNodes(t *testing.T) {
	c := start(t)
	internal := func(ip string) corev1.NodeAddress {
		return corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: ip}
	}
	c.addNode("node-0", internal("10.0.0.1"), corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: "192.0.2.1"})
	c.addNode("node-1", internal("10.0.0.2"))
	c.addNode("node-2", internal("10.0.0.3"))
	c.setReady(c.pod)
	c.setReady(c.addPod("controller-1", "node-1"))
	c.addPod("controller-2", "node-2") // not ready
	c.deleteSlowly("controller-1")     // still ready
	for _, test := range []struct {
		internal bool
		want     []string
	}{
		{false, []string{"10.0.0.2", "192.0.2.1"}},
		{true, []string{"10.0.0.1", "10.0.0.2"}},
	} {
		got, err := Addresses{NodeInternal: test.internal}.look(t.Context(), c.client, c.pod)
		c.must(err)
		if texts := addressesOf(&networkingv1.Ingress{Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: got}}}); !slices.Equal(texts, test.want) {
			t.Errorf("internal %v: %v, want %v", test.internal, texts, test.want)
		}
	}
}

func TestAddressesOfService(t *testing.T) {
	external := []string{"192.0.2.7"}
	for name, test := range map[string]struct {
		spec   corev1.ServiceSpec
		status []corev1.LoadBalancerIngress
		want   []string
	}{
		"ExternalName":              {spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "lb.example"}, want: []string{"lb.example"}},
		"ClusterIP":                 {spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.1.0.1", ExternalIPs: external}, want: []string{"10.1.0.1"}},
		"NodePort":                  {spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.1.0.1"}, want: []string{"10.1.0.1"}},
		"NodePort and external IPs": {spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.1.0.1", ExternalIPs: external}, want: external},
		"LoadBalancer": {spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.1.0.1", ExternalIPs: external},
			status: []corev1.LoadBalancerIngress{{IP: "198.51.100.1"}, {Hostname: "lb.example"}}, want: []string{"198.51.100.1", "lb.example", "192.0.2.7"}},
		"LoadBalancer with both": {spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.1.0.1"},
			status: []corev1.LoadBalancerIngress{{IP: "198.51.100.1", Hostname: "lb.example"}}, want: []string{"198.51.100.1lb.example"}},
		"LoadBalancer without one yet": {spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.1.0.1"}},
	} {
		service := &corev1.Service{Spec: test.spec, Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: test.status}}}
		status := networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{Ingress: ofService(service)}}
		if got := addressesOf(&networkingv1.Ingress{Status: status}); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// The API server accepts no IP address as the hostname.
func TestExternalNameThatIsAnIPAddress(t *testing.T) {
	c := start(t)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "lb"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "192.0.2.9"}}
	_, err := c.client.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{})
	c.must(err)
	o := c.options(c.pod, "")
	o.Addresses = Addresses{Service: types.NamespacedName{Namespace: "default", Name: "lb"}}
	writer{o}.update(t.Context())
	want := []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.9"}}
	if got := c.ingress().Status.LoadBalancer.Ingress; !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("addresses %v, want %v", got, want)
	}
}

func TestMissingServiceIsAnError(t *testing.T) {
	c := start(t)
	_, err := Addresses{Service: types.NamespacedName{Namespace: "default", Name: "gone"}}.look(t.Context(), c.client, c.pod)
	if err == nil {
		t.Error("no error")
	}
}
