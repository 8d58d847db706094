package columns

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Cells as kube-apiserver fills them.
func TestCells(t *testing.T) {
	now := time.Now()
	ago := func(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }
	balancer := []corev1.LoadBalancerIngress{{IP: "10.0.0.9"}, {Hostname: "b.example"}, {IP: "10.0.0.1"}, {IP: "10.0.0.9"}}
	host := func(names ...string) (rules []networkingv1.IngressRule) {
		for _, name := range names {
			rules = append(rules, networkingv1.IngressRule{Host: name})
		}
		return rules
	}
	annotated := metav1.ObjectMeta{Annotations: map[string]string{"kubernetes.io/ingress.class": "nginx"}}
	deleted := metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}
	for _, test := range []struct {
		printer *resource.Printer
		obj     runtime.Object
		column  string
		want    any
	}{
		{Service, &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ExternalIPs: []string{"1.2.3.4"}},
			Status: corev1.ServiceStatus{LoadBalancer: corev1.LoadBalancerStatus{Ingress: balancer}}}, "External-IP", "10.0.0.1,10.0.0.9,b.example,1.2.3.4"},
		{Service, &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}}, "External-IP", "<pending>"},
		{Service, &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort}}, "External-IP", "<none>"},
		{Ingress, &networkingv1.Ingress{Status: networkingv1.IngressStatus{LoadBalancer: networkingv1.IngressLoadBalancerStatus{
			Ingress: []networkingv1.IngressLoadBalancerIngress{{IP: "10.0.0.9"}, {IP: "10.0.0.1"}, {IP: "10.0.0.9", Hostname: "b"}}}}}, "Address", "10.0.0.1,10.0.0.9"},
		{Ingress, &networkingv1.Ingress{ObjectMeta: annotated}, "Class", "<none>"},
		{Ingress, &networkingv1.Ingress{Spec: networkingv1.IngressSpec{Rules: host("a", "b", "c", "", "e")}}, "Hosts", "a,b,c + 2 more..."},
		{Ingress, &networkingv1.Ingress{Spec: networkingv1.IngressSpec{Rules: host("", "b")}}, "Hosts", "b"},
		{Ingress, &networkingv1.Ingress{Spec: networkingv1.IngressSpec{Rules: host("")}}, "Hosts", "*"},
		{IngressClass, &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "nginx", Annotations: map[string]string{networkingv1.AnnotationIsDefaultIngressClass: "true"}}},
			"Name", "nginx (default)"},
		{Endpoints, &corev1.Endpoints{Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}}},
			{Addresses: []corev1.EndpointAddress{{IP: "fd00::1"}}, Ports: []corev1.EndpointPort{{Port: 80}}}}}, "Endpoints", "10.0.0.1,[fd00::1]:80"},
		{EndpointSlice, &discoveryv1.EndpointSlice{Ports: []discoveryv1.EndpointPort{{Name: new("http")}, {Port: new(int32(80))}, {}}}, "Ports", "http,80,*"},
		{Node, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"node-role.kubernetes.io/": "", "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge"}}},
			"Roles", "edge,worker"},
		{Node, &corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: "6.1", Architecture: "arm64"}}}, "Kernel-Version", "6.1 (arm64)"},
		{Event, &corev1.Event{LastTimestamp: ago(time.Hour), Series: &corev1.EventSeries{Count: 7, LastObservedTime: metav1.NewMicroTime(now.Add(-time.Second))}}, "Last Seen", "1s"},
		{Event, &corev1.Event{Count: 1, Series: &corev1.EventSeries{Count: 7}}, "Count", int64(7)},
		{Event, &corev1.Event{FirstTimestamp: ago(5 * time.Minute)}, "Last Seen", "5m"},
		{Event, &corev1.Event{ReportingController: "ctl", ReportingInstance: "ctl-0"}, "Source", "ctl, ctl-0"},
		{Event, &corev1.Event{InvolvedObject: corev1.ObjectReference{Kind: "Node"}}, "Object", "node"},
		{Claim, &corev1.PersistentVolumeClaim{ObjectMeta: deleted, Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound}}, "Status", "Terminating"},
		{Volume, &corev1.PersistentVolume{ObjectMeta: deleted, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}}, "Status", "Terminating"},
	} {
		at := slices.IndexFunc(test.printer.Columns, func(c metav1.TableColumnDefinition) bool { return c.Name == test.column })
		if at < 0 {
			t.Fatalf("%T: there is no column %s", test.obj, test.column)
		}
		if got := test.printer.Cells(test.obj, now)[at]; got != test.want {
			t.Errorf("%T: the cell %s is %v, want %v", test.obj, test.column, got, test.want)
		}
	}
}
